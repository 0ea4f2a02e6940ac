//! `bakeoff serve`: sends pages of studies to a browser on this machine, and changes nothing. It listens on the loopback address
//! only, and answers only who knows the token of its address. While a study is executed it only sends what is there.

use crate::document::{document, policy};
use crate::snapshot;
use bakeoff_command::{Code, CommandError, Features, screen, state};
use bakeoff_host::lock::Lock;
use bakeoff_model::plain::clean;
use maud::html;
use std::fs;
use std::io::Read as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use tiny_http::{Header, Method, Request, Response, Server};

/// Random bytes of a token.
const TOKEN: usize = 16;

/// Serve pages of studies to a browser on this machine
///
/// The page is the one of `--html`, made again whenever the journal has grown; while `bakeoff run` executes the study, the
/// run itself writes it between blocks, at most once in 30 seconds. Only this machine can ask for it (the loopback
/// address), and only with the token in the address that is printed. A browser on the machine that measures is foreign load.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Studies, whose latest journals are used; or journals (.jsonl). Several get an index
    #[arg(required = true)]
    studies: Vec<PathBuf>,
    /// The port to listen on; without it, one that is free
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
}

/// A study that is served.
struct Served {
    name: String,
    journal: PathBuf,
}

pub(crate) fn execute(args: &Args, features: Features) -> Result<Code, CommandError> {
    let mut studies: Vec<Served> = vec![];
    for study in &args.studies {
        let journal = state::journal_of(study)?;
        bakeoff_command::journals::read(&journal, features)?;
        studies.push(Served { name: clean(&study.display().to_string()), journal });
    }
    for Served { journal, .. } in &studies {
        // A folder that cannot be written to is served all the same; a run there writes no snapshot.
        if let Err(error) = snapshot::ask(journal) {
            screen::err(&format!("note: {} cannot be followed: {error}\n", clean(&journal.display().to_string())));
        }
    }
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let server = Server::http(address).map_err(|error| {
        let said = clean(&error.to_string());
        CommandError::usage(format!("cannot listen on {address}: {said}")).hint("without --port, a free one is found")
    })?;
    let port = server.server_addr().to_ip().map_or(args.port, |address| address.port());
    let token = token()?;
    screen::out(&format!("http://127.0.0.1:{port}/{token}/\n"));
    let site = Site { studies, token, port, features };
    for request in server.incoming_requests() {
        let response = site.answer(&request);
        // A browser that goes away has seen enough.
        let _ = request.respond(response);
    }
    Ok(Code::Done)
}

/// Bytes that nobody guesses, as text.
fn token() -> Result<String, CommandError> {
    let mut bytes = [0u8; TOKEN];
    let read = fs::File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes));
    read.map_err(|error| CommandError::text(Code::Internal, format!("error: /dev/urandom cannot be read: {error}\n")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

struct Site {
    studies: Vec<Served>,
    token: String,
    port: u16,
    features: Features,
}

type Answer = Response<std::io::Cursor<Vec<u8>>>;

impl Site {
    fn answer(&self, request: &Request) -> Answer {
        if !matches!(request.method(), Method::Get | Method::Head) {
            return plain(405, "Only GET.");
        }
        // A page of somebody else's, under a name that leads here, must not read it.
        let host =
            request.headers().iter().find(|header| header.field.equiv("Host")).map(|header| header.value.as_str());
        let known = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        if !host.is_some_and(|host| known.iter().any(|known| known == host)) {
            return plain(403, "Ask by the address that was printed.");
        }
        let path = request.url().split(['?', '#']).next().unwrap_or_default();
        let Some(rest) = path.strip_prefix('/').and_then(|path| path.strip_prefix(&self.token)) else {
            return plain(403, "Ask by the address that was printed: its token is missing.");
        };
        match (rest, self.studies.as_slice()) {
            ("/", [only]) => self.page(only),
            ("/", studies) => page(index(studies)),
            (rest, studies) => {
                let number =
                    rest.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).and_then(|n| n.parse().ok());
                match number.and_then(|number: usize| studies.get(number.checked_sub(1)?)) {
                    Some(study) => self.page(study),
                    None => plain(404, "There is no such page."),
                }
            }
        }
    }

    /// The page of a study: while it is executed, the one that was written last; else made again if the journal has grown.
    fn page(&self, study: &Served) -> Answer {
        // The lock is tried only where there is something to do: a run that begins meanwhile must find it free.
        if !is_current(&study.journal)
            && !is_executed(&study.journal)
            && let Err(error) = self.refresh(&study.journal)
        {
            return plain(500, &clean(&error.render()));
        }
        match fs::read_to_string(snapshot::file(&study.journal)) {
            Ok(text) => page(text),
            Err(_) => page(waiting(study)),
        }
    }

    fn refresh(&self, journal: &Path) -> Result<(), CommandError> {
        let record = bakeoff_command::journals::read(journal, self.features)?;
        snapshot::write(journal, self.features, &record)
    }
}

/// Whether the journal has not grown since the snapshot was written.
fn is_current(journal: &Path) -> bool {
    let grown = fs::metadata(journal).and_then(|about| about.modified()).ok();
    snapshot::written(journal).zip(grown).is_some_and(|(written, grown)| written > grown)
}

/// Whether a command executes the study now.
fn is_executed(journal: &Path) -> bool {
    matches!(Lock::take(&journal.with_extension("lock")), Err(bakeoff_host::Error::Locked { .. }))
}

fn index(studies: &[Served]) -> String {
    let body = html! {
        main {
            h1 { "Studies" }
            ul { @for (at, study) in studies.iter().enumerate() { li { a href={ (at + 1) "/" } { bdi { (study.name) } } } } }
        }
    };
    document("Studies", &body, None)
}

fn waiting(study: &Served) -> String {
    let body = html! {
        main {
            h1 { bdi { (study.name) } }
            p { "The study is being executed, and its first snapshot is not written yet. It is written between blocks: ask again." }
        }
    };
    document(&study.name, &body, None)
}

fn page(text: String) -> Answer {
    let csp = [policy().as_str(), "; frame-ancestors 'none'"].concat();
    let answer = answered(200, text, "text/html; charset=utf-8");
    with_header(answer, "Content-Security-Policy", &csp)
}

fn plain(status: u16, text: &str) -> Answer {
    answered(status, [text, "\n"].concat(), "text/plain; charset=utf-8")
}

fn answered(status: u16, text: String, kind: &str) -> Answer {
    let headers = [
        ("Content-Type", kind),
        ("Cache-Control", "no-store"),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ];
    let response = Response::from_string(text).with_status_code(status);
    headers.iter().fold(response, |response, (field, value)| with_header(response, field, value))
}

/// All of them are ours, and ASCII: so each is one.
fn with_header(response: Answer, field: &str, value: &str) -> Answer {
    match Header::from_bytes(field, value) {
        Ok(header) => response.with_header(header),
        Err(()) => response,
    }
}
