//! The command line: what may be said, and nothing about what is then done.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use panemirror::config::Flags;
use panemirror::geometry::Size;
use panemirror::replay::{Engine, ReplayArgs};

const ABOUT: &str = "Exact waits on a terminal: an MCP server, and one wait from a shell";

const EXAMPLES: &str = "\
Examples:
  panemirror                                     serve MCP on stdin and stdout (what a client starts)
  panemirror -L work                             the same, for the tmux server of `tmux -L work`
  panemirror wait --text 'Serving' -- python3 -m http.server
  panemirror wait --text 'tests passed' --stop FAILED --timeout 120 --pane %3

To use it from an MCP client, configure the command `panemirror` without arguments.
Settings may also come from the environment: PANEMIRROR_SOCKET, PANEMIRROR_SOCKET_PATH, PANEMIRROR_TMUX_BIN,
PANEMIRROR_WAIT_MAX_SECONDS, PANEMIRROR_TOOLSETS, PANEMIRROR_LOG, PANEMIRROR_RETENTION,
PANEMIRROR_HISTORY_LIMIT, PANEMIRROR_TERM.";

const WAIT_EXAMPLES: &str = "\
Exit status: 0 found, 1 stopped by --stop, 2 failed (bad usage, no such pane, the program ended first),
3 nothing found and a full-screen program was shown, 124 timeout.

Examples:
  panemirror wait --text 'Serving' -- python3 -m http.server    run a program, wait for its text, end it
  panemirror wait --text '$ ' --pane %3                         the next prompt in tmux pane %3
  panemirror wait --regex --text '[0-9]+ passed' --stop FAILED -- cargo test
  panemirror wait --any --timeout 5 --pane %3                   anything at all";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "panemirror", version, about = ABOUT, after_help = EXAMPLES)]
#[command(args_conflicts_with_subcommands = true, infer_subcommands = false)]
pub struct Cli {
    #[command(flatten)]
    serve: ServeArgs,
    #[command(subcommand)]
    command: Option<Command>,
}

impl Cli {
    /// The command that was meant: `serve` if none is named.
    pub fn command(self) -> Command {
        self.command.unwrap_or(Command::Serve(self.serve))
    }
}

/// What there is to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve MCP on stdin and stdout (the default)
    Serve(ServeArgs),
    /// Wait once, for text on a tmux pane or from a program
    #[command(after_help = WAIT_EXAMPLES)]
    Wait(WaitArgs),
    /// Feed recorded bytes to the emulator and print the screen as JSON
    Replay(ReplayFlags),
}

/// Which tmux server, and with which program.
#[derive(Debug, Default, Args)]
pub struct TmuxFlags {
    /// Name of the tmux socket, as in `tmux -L`
    #[arg(short = 'L', value_name = "NAME", conflicts_with = "socket_path")]
    socket_name: Option<String>,
    /// Path of the tmux socket, as in `tmux -S`
    #[arg(short = 'S', value_name = "PATH")]
    socket_path: Option<PathBuf>,
    /// The tmux program [default: tmux, looked up in PATH]
    #[arg(long, value_name = "PATH")]
    tmux_bin: Option<PathBuf>,
    /// What to log on stderr: error, warn, info, debug, trace or a filter [default: warn]
    #[arg(long, value_name = "FILTER")]
    log: Option<String>,
}

/// How to serve.
#[derive(Debug, Default, Args)]
pub struct ServeArgs {
    #[command(flatten)]
    tmux: TmuxFlags,
    /// Tools to offer: `all`, or a list of inspect, manage, execute, teardown [default: inspect,manage,execute]
    #[arg(long, value_name = "LIST")]
    toolsets: Option<String>,
    /// The longest wait that a client may have, 1 to 120 [default: 30]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    wait_max_seconds: Option<String>,
}

impl ServeArgs {
    /// The settings among the flags.
    pub fn flags(&self) -> Flags {
        Flags { toolsets: self.toolsets.clone(), wait_max_seconds: self.wait_max_seconds.clone(), ..self.tmux.flags() }
    }
}

impl TmuxFlags {
    fn flags(&self) -> Flags {
        Flags {
            socket_name: self.socket_name.clone(),
            socket_path: self.socket_path.clone(),
            tmux_bin: self.tmux_bin.clone(),
            log: self.log.clone(),
            ..Flags::default()
        }
    }
}

/// What to wait for, and where.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").required(true).args(["text", "any"]))]
#[command(group = ArgGroup::new("where").required(true).args(["pane", "command"]))]
pub struct WaitArgs {
    /// Text to wait for; may be given several times, the first to appear ends the wait
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true)]
    pub text: Vec<String>,
    /// Wait for any output at all
    #[arg(long)]
    pub any: bool,
    /// Text that ends the wait as a failure; may be given several times
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true)]
    pub stop: Vec<String>,
    /// Take --text and --stop as regular expressions
    #[arg(long)]
    pub regex: bool,
    /// Match case
    #[arg(long)]
    pub match_case: bool,
    /// The longest wait, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds, allow_hyphen_values = true)]
    pub timeout: f64,
    /// Print the result as JSON, as the tool wait_for_text gives it
    #[arg(long)]
    pub json: bool,
    /// A tmux pane, such as %3 (see `tmux list-panes -a`)
    #[arg(long, value_name = "%N", conflicts_with_all = ["rows", "cols"])]
    pub pane: Option<String>,
    /// Rows of the terminal that COMMAND runs in
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u16).range(1..=1000))]
    rows: u16,
    /// Columns of the terminal that COMMAND runs in
    #[arg(long, default_value_t = 80, value_parser = clap::value_parser!(u16).range(1..=1000))]
    cols: u16,
    #[command(flatten)]
    tmux: TmuxFlags,
    /// A program and its arguments, run on a terminal of its own and ended with the wait
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

impl WaitArgs {
    /// The size of the terminal that the command runs in.
    pub fn size(&self) -> Size {
        Size::new(self.rows, self.cols)
    }

    /// The settings among the flags.
    pub fn flags(&self) -> Flags {
        self.tmux.flags()
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 31_536_000.0 => Ok(seconds),
        _ => Err("must be a number of seconds above 0 and at most a year".to_owned()),
    }
}

/// Which emulator replays.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum EngineName {
    /// panemirror's own, equal to tmux's
    Native,
    /// The vt100 crate, for a second opinion
    Vt100,
}

/// What to replay.
#[derive(Debug, Args)]
pub struct ReplayFlags {
    /// Rows of the screen
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    rows: u16,
    /// Columns of the screen
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    cols: u16,
    /// Resize after OFFSET bytes; may be given several times
    #[arg(long, value_name = "OFFSET:ROWSxCOLS", value_parser = resize)]
    resize: Vec<(u64, Size)>,
    /// The emulator
    #[arg(long, value_enum, default_value = "native")]
    engine: EngineName,
    /// The tmux version whose screen is wanted, such as 3.3a
    #[arg(long, value_name = "VERSION")]
    tmux: Option<String>,
    /// The recorded bytes
    file: PathBuf,
}

impl From<ReplayFlags> for ReplayArgs {
    fn from(flags: ReplayFlags) -> Self {
        Self {
            file: flags.file,
            size: Size::new(flags.rows, flags.cols),
            resizes: flags.resize,
            engine: match flags.engine {
                EngineName::Native => Engine::Native,
                EngineName::Vt100 => Engine::Vt100,
            },
            tmux: flags.tmux,
        }
    }
}

fn resize(text: &str) -> Result<(u64, Size), String> {
    let wrong = || "must look like 1200:40x132".to_owned();
    let (offset, size) = text.split_once(':').ok_or_else(wrong)?;
    let (rows, cols) = size.split_once('x').ok_or_else(wrong)?;
    match (offset.parse(), rows.parse::<u16>(), cols.parse::<u16>()) {
        (Ok(offset), Ok(rows), Ok(cols)) if rows > 0 && cols > 0 => Ok((offset, Size::new(rows, cols))),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parse(line: &str) -> Result<Command, clap::Error> {
        Cli::try_parse_from(line.split(' ')).map(Cli::command)
    }

    #[test]
    fn the_definitions_hold_together() {
        <Cli as CommandFactory>::command().debug_assert();
    }

    #[test]
    fn serve_is_the_default_and_takes_the_same_flags() {
        for line in ["panemirror -L work --toolsets all", "panemirror serve -L work --toolsets all"] {
            let Command::Serve(serve) = parse(line).unwrap() else {
                panic!("{line}");
            };
            assert_eq!(serve.flags().socket_name.as_deref(), Some("work"));
            assert_eq!(serve.flags().toolsets.as_deref(), Some("all"));
        }
    }

    #[test]
    fn a_wait_needs_something_to_wait_for_and_somewhere() {
        let good = [
            "panemirror wait --text a --pane %1",
            "panemirror wait --text a --text b --stop -c --timeout 0.5 --pane %1",
            "panemirror wait --any -- sh -c exit",
            "panemirror wait --text a --rows 5 --cols 10 -S /tmp/x -- sh --json",
        ];
        for line in good {
            assert!(matches!(parse(line), Ok(Command::Wait(_))), "{line}");
        }
        let bad = [
            "panemirror wait --pane %1",
            "panemirror wait --text a",
            "panemirror wait --text a --any --pane %1",
            "panemirror wait --text a --pane %1 -- sh",
            "panemirror wait --text a --timeout 0 --pane %1",
            "panemirror wait --text a --timeout -1 --pane %1",
            "panemirror wait --text a --timeout NaN --pane %1",
            "panemirror wait --text a --timeout soon --pane %1",
            "panemirror wait --text a --rows 0 -- sh",
            "panemirror -L a -S b",
            "panemirror bogus",
        ];
        for line in bad {
            assert_eq!(parse(line).map(|_| ()).unwrap_err().exit_code(), 2, "{line}");
        }
    }

    #[test]
    fn resizes_are_read_in_order() {
        let line = "panemirror replay --rows 24 --cols 80 --resize 10:5x6 --resize 20:7x8 f";
        let Ok(Command::Replay(flags)) = parse(line) else {
            panic!("{line}");
        };
        let args = ReplayArgs::from(flags);
        assert_eq!(args.resizes, [(10, Size::new(5, 6)), (20, Size::new(7, 8))]);
        for bad in ["10", "10:5", "10:0x5", "x:5x5", "10:5x5x5"] {
            let line = format!("panemirror replay --rows 2 --cols 2 --resize {bad} f");
            assert!(parse(&line).is_err(), "{bad}");
        }
    }
}
