//! The program `bakeoff`. Everything it does is in the library beside it, so that tests can ask for it.

fn main() -> std::process::ExitCode {
    bakeoff_cli::main()
}
