//! The program `bakeoff`. Everything it does is in the library, so that tests can call it.

fn main() -> std::process::ExitCode {
    bakeoff_cli::main()
}
