//! The panemirror command. Everything about the process itself is here: exit status, messages on stderr, signals, runtime.

mod cli;
mod shell;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use clap::error::ErrorKind;
use panemirror::config::{Config, Flags};
use panemirror::mcp::{Server, Stop, serve};
use panemirror::panes::{Panes, Settings};
use panemirror::replay::{self, ReplayArgs};
use panemirror::wait::{Outcome, TextResult};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;
use tracing_subscriber::EnvFilter;

use cli::{Cli, Command, ServeArgs, WaitArgs};

/// Found, or ended as asked.
const FOUND: u8 = 0;
/// A `--stop` text ended the wait.
const STOPPED: u8 = 1;
/// Bad usage, bad settings, or something failed.
const FAILED: u8 = 2;
/// Nothing found, and the alternate screen was shown.
const ALTERNATE_SCREEN: u8 = 3;
/// Nothing found in time, as `timeout(1)` says it.
const TIMED_OUT: u8 = 124;

/// How long panes get to end: children have 500 ms before they are killed.
const SHUTDOWN: Duration = Duration::from_millis(900);

fn main() -> ExitCode {
    let command = match Cli::try_parse() {
        Ok(cli) => cli.command(),
        Err(error) => {
            // A reader that closed early is no reason to panic.
            let _ = error.print();
            let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return ExitCode::from(if asked { FOUND } else { FAILED });
        }
    };
    let code = match command {
        Command::Serve(args) => run_serve(&args),
        Command::Wait(args) => run_wait(&args),
        Command::Replay(flags) => run_replay(&ReplayArgs::from(flags)),
    };
    ExitCode::from(code.unwrap_or_else(|message| {
        let _ = writeln!(io::stderr(), "panemirror: {message}");
        FAILED
    }))
}

fn run_serve(args: &ServeArgs) -> Result<u8, String> {
    let config = configure(&args.flags())?;
    if io::stdin().is_terminal() {
        let _ = writeln!(
            io::stderr(),
            "panemirror: serving MCP on stdin and stdout, which an MCP client starts; `panemirror --help` has more. \
             End with Ctrl-D."
        );
    }
    let runtime = runtime()?;
    runtime.block_on(async {
        let stop = Stop::new();
        let signalled = stop.clone();
        let mut signals = Signals::new()?;
        tokio::spawn(async move {
            signals.next().await;
            signalled.raise();
        });
        let panes = Panes::new(config.settings());
        let server = Server::new(Arc::clone(&panes), &config.toolsets, stop);
        let (input, output) = rmcp::transport::stdio_pipes();
        serve(server, input, output).await;
        shut_down(&panes).await;
        Ok::<(), String>(())
    })?;
    // A read of a terminal or a file cannot be withdrawn; nothing waits for it.
    runtime.shutdown_background();
    Ok(FOUND)
}

fn run_wait(args: &WaitArgs) -> Result<u8, String> {
    let config = configure(&args.flags())?;
    let runtime = runtime()?;
    let code = runtime.block_on(async {
        let mut signals = Signals::new()?;
        let panes = Panes::new(Settings { wait_max: shell::limit(args), ..config.settings() });
        let ended = tokio::select! {
            biased;
            number = signals.next() => {
                shut_down(&panes).await;
                return Ok(128 + number);
            }
            ended = shell::wait(&panes, args) => ended,
        };
        let code = ended.as_ref().map_or(FAILED, wait_status);
        // A closed stdout or stderr changes nothing about how the wait ended.
        let _ = shell::tell(args, ended);
        shut_down(&panes).await;
        Ok::<u8, String>(code)
    });
    runtime.shutdown_background();
    code
}

fn wait_status(result: &TextResult) -> u8 {
    match result.outcome {
        Outcome::Matched | Outcome::AnyOutput => FOUND,
        Outcome::Stopped => STOPPED,
        Outcome::AlternateScreen => ALTERNATE_SCREEN,
        Outcome::Timeout => TIMED_OUT,
    }
}

fn run_replay(args: &ReplayArgs) -> Result<u8, String> {
    let screen = replay::run(args).map_err(text)?;
    match writeln!(io::stdout(), "{screen}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(text(error)),
        _ => Ok(FOUND),
    }
}

/// Reads the settings and starts the log.
fn configure(flags: &Flags) -> Result<Config, String> {
    let environment: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            let ours = ["PANEMIRROR_", "LIBTMUX_", "TMUX"];
            ours.iter().any(|prefix| name.starts_with(prefix)).then(|| (name, value.to_string_lossy().into_owned()))
        })
        .collect();
    let (config, warnings) = Config::load(flags, &environment).map_err(text)?;
    for warning in warnings {
        let _ = writeln!(io::stderr(), "panemirror: {warning}");
    }
    let wrong = |error: &dyn Display| format!("the log filter {:?} cannot be used: {error}", config.log);
    let filter = EnvFilter::try_new(&config.log).map_err(|error| wrong(&error))?;
    // rmcp logs whole messages below `error`, and those hold what stands in panes.
    let quiet = "rmcp=error".parse().map_err(|error| wrong(&error))?;
    tracing_subscriber::fmt().with_env_filter(filter.add_directive(quiet)).with_writer(io::stderr).init();
    Ok(config)
}

fn runtime() -> Result<Runtime, String> {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| format!("the runtime did not start: {error}"))
}

/// Ends what the panes started, and gives up on what does not end.
async fn shut_down(panes: &Panes) {
    if timeout(SHUTDOWN, panes.shutdown()).await.is_err() {
        tracing::warn!("some panes did not end in time");
    }
}

/// The signals that ask a process to end.
struct Signals {
    hangup: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    fn new() -> Result<Self, String> {
        let listen = |kind| signal(kind).map_err(|error| format!("signals cannot be caught: {error}"));
        Ok(Self {
            hangup: listen(SignalKind::hangup())?,
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    /// Waits for one of them and gives its number.
    async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.hangup.recv() => 1,
            _ = self.interrupt.recv() => 2,
            _ = self.terminate.recv() => 15,
        }
    }
}

fn text(error: impl Display) -> String {
    error.to_string()
}
