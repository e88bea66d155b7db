//! Settings: flags first, then `PANEMIRROR_*`, then the variables of the Python server libtmux-mcp.
//!
//! | setting | flag | variable | of the Python server | default |
//! | --- | --- | --- | --- | --- |
//! | tmux socket name | `-L` | `PANEMIRROR_SOCKET` | `LIBTMUX_SOCKET` | tmux's own |
//! | tmux socket path | `-S` | `PANEMIRROR_SOCKET_PATH` | `LIBTMUX_SOCKET_PATH` | tmux's own |
//! | tmux program | `--tmux-bin` | `PANEMIRROR_TMUX_BIN` | `LIBTMUX_TMUX_BIN` | `tmux` |
//! | longest wait, seconds, 1 to 120 | `--wait-max-seconds` | `PANEMIRROR_WAIT_MAX_SECONDS` | `LIBTMUX_MCP_WAIT_MAX_SECONDS` | 30 |
//! | toolsets, or `all` | `--toolsets` | `PANEMIRROR_TOOLSETS` | `LIBTMUX_TOOLSETS` | `inspect,manage,execute` |
//! | log level or filter | `--log` | `PANEMIRROR_LOG` | | `warn` |
//! | rows kept for `capture_since`, 0 to 1,000,000 | | `PANEMIRROR_RETENTION` | | 50,000 |
//! | history rows of embedded panes, 0 to 1,000,000 | | `PANEMIRROR_HISTORY_LIMIT` | | 2,000 |
//! | `TERM` of embedded panes | | `PANEMIRROR_TERM` | | `screen-256color` |
//!
//! A flag or a `PANEMIRROR_*` variable that is malformed or out of range stops the start. The Python server's variables are
//! read as it reads them: the wait ceiling is clamped with a warning, a bad one falls back to the default with a warning, and a
//! toolset that nobody knows stops the start (a tool list wider than was meant must not be served). An empty
//! `PANEMIRROR_*` or `LIBTMUX_*` variable counts as not set, but for the toolsets: there an empty list means no tools.
//! A name and a path in one place contradict each other; between the places the first one that says anything about the socket wins.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::panes::{OwnPane, Settings};
use crate::source::tmux::{self, Socket};

/// A family of tools that is offered or not as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Toolset {
    /// Tools that only look.
    Inspect,
    /// Tools that open, resize and signal.
    Manage,
    /// Tools that type and run.
    Execute,
    /// Tools that end things; off unless asked for.
    Teardown,
}

impl Toolset {
    /// Every toolset, in the order in which they are documented.
    pub const ALL: [Self; 4] = [Self::Inspect, Self::Manage, Self::Execute, Self::Teardown];

    /// The name in flags and variables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inspect => "inspect",
            Self::Manage => "manage",
            Self::Execute => "execute",
            Self::Teardown => "teardown",
        }
    }
}

/// The toolsets that are offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolsets(Vec<Toolset>);

impl Default for Toolsets {
    fn default() -> Self {
        Self(vec![Toolset::Inspect, Toolset::Manage, Toolset::Execute])
    }
}

impl Toolsets {
    /// Every toolset.
    pub fn all() -> Self {
        Self(Toolset::ALL.to_vec())
    }

    /// Tells whether the tools of `set` are offered.
    pub fn contains(&self, set: Toolset) -> bool {
        self.0.contains(&set)
    }

    /// Reads `all`, an empty text, or names separated by commas.
    ///
    /// # Errors
    ///
    /// [`Invalid`] for a name that is no toolset.
    pub fn parse(setting: &str, text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(Self(Vec::new()));
        }
        if text.eq_ignore_ascii_case("all") {
            return Ok(Self::all());
        }
        let mut sets = Vec::new();
        for word in text.split(',').map(str::trim) {
            let set =
                Toolset::ALL.into_iter().find(|set| set.name().eq_ignore_ascii_case(word)).ok_or_else(|| Invalid {
                    setting: setting.to_owned(),
                    value: word.to_owned(),
                    wanted: "`all` or a list of inspect, manage, execute, teardown, separated by commas",
                })?;
            if !sets.contains(&set) {
                sets.push(set);
            }
        }
        Ok(Self(sets))
    }
}

/// The settings of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The tmux server that is meant when a call names none.
    pub socket: Socket,
    /// The tmux program, looked up in `PATH` if it has no slash.
    pub tmux_bin: PathBuf,
    /// The longest wait that is allowed, whatever a call asks for.
    pub wait_max: Duration,
    /// The tools that are offered.
    pub toolsets: Toolsets,
    /// The filter of the log on stderr.
    pub log: String,
    /// Rows kept for `capture_since` after they left a pane's history.
    pub retention: usize,
    /// History rows of embedded panes.
    pub history_limit: usize,
    /// `TERM` in embedded panes.
    pub term: String,
    /// The tmux pane that this process runs in, if it does.
    pub own_pane: Option<OwnPane>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            socket: Socket::Default,
            tmux_bin: PathBuf::from("tmux"),
            wait_max: Duration::from_secs(30),
            toolsets: Toolsets::default(),
            log: "warn".to_owned(),
            retention: 50_000,
            history_limit: 2_000,
            term: "screen-256color".to_owned(),
            own_pane: None,
        }
    }
}

/// Reads `TMUX` (`SOCKET,PID,SESSION`) and `TMUX_PANE` (`%N`).
fn own_pane(tmux: &str, tmux_pane: &str) -> Option<OwnPane> {
    let mut fields = tmux.rsplitn(3, ',');
    let _session = fields.next()?;
    let server_pid = fields.next()?.parse().ok()?;
    let socket = PathBuf::from(fields.next()?);
    let pane = tmux_pane.strip_prefix('%')?.parse().ok()?;
    Some(OwnPane { socket, server_pid, pane })
}

/// What the flags say; `None` leaves a setting to the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `-L NAME`.
    pub socket_name: Option<String>,
    /// `-S PATH`.
    pub socket_path: Option<PathBuf>,
    /// `--tmux-bin PATH`.
    pub tmux_bin: Option<PathBuf>,
    /// `--wait-max-seconds S`.
    pub wait_max_seconds: Option<String>,
    /// `--toolsets LIST`.
    pub toolsets: Option<String>,
    /// `--log FILTER`.
    pub log: Option<String>,
}

/// A setting that cannot be used: the start stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    setting: String,
    value: String,
    wanted: &'static str,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value: String = self.value.chars().take(80).collect();
        write!(f, "{} is {value:?}; it must be {}", self.setting, self.wanted)
    }
}

impl std::error::Error for Invalid {}

/// The tmux version whose rules embedded panes follow: the newest that the rules were tested with.
const PROFILE: &str = "3.7";

const SOCKET_NAME: &str = "a name of letters, digits, `_`, `.` and `-`";
const SECONDS: &str = "a number of seconds from 1 to 120";
const ROWS: &str = "a number of rows from 0 to 1000000";

/// Tells whether `name` can be a tmux socket name: `[A-Za-z0-9_.-]+`, at most 64 bytes, and not only dots.
pub fn is_socket_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && !name.bytes().all(|b| b == b'.')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

impl Config {
    /// Reads the settings from flags and an environment, with the warnings that go to stderr.
    ///
    /// # Errors
    ///
    /// [`Invalid`] names the first setting that cannot be used.
    pub fn load(flags: &Flags, environment: &BTreeMap<String, String>) -> Result<(Self, Vec<String>), Invalid> {
        let reader = Reader { environment };
        let defaults = Self::default();
        let mut warnings = Vec::new();
        let config = Self {
            socket: reader.socket(flags)?,
            tmux_bin: flags
                .tmux_bin
                .clone()
                .or_else(|| reader.either("PANEMIRROR_TMUX_BIN", "LIBTMUX_TMUX_BIN"))
                .unwrap_or(defaults.tmux_bin),
            wait_max: reader.wait_max(flags, &mut warnings)?.unwrap_or(defaults.wait_max),
            toolsets: reader.toolsets(flags)?.unwrap_or(defaults.toolsets),
            log: flags.log.clone().or_else(|| reader.set("PANEMIRROR_LOG").map(str::to_owned)).unwrap_or(defaults.log),
            retention: reader.rows("PANEMIRROR_RETENTION")?.unwrap_or(defaults.retention),
            history_limit: reader.rows("PANEMIRROR_HISTORY_LIMIT")?.unwrap_or(defaults.history_limit),
            term: reader.term()?.unwrap_or(defaults.term),
            own_pane: reader.set("TMUX").zip(reader.set("TMUX_PANE")).and_then(|(tmux, pane)| own_pane(tmux, pane)),
        };
        Ok((config, warnings))
    }

    /// The part of the settings that the panes need.
    pub fn settings(&self) -> Settings {
        Settings {
            tmux: tmux::Settings {
                program: self.tmux_bin.clone(),
                socket: self.socket.clone(),
                config: None,
                retention: self.retention,
            },
            wait_max: self.wait_max,
            history_limit: self.history_limit,
            retention: self.retention,
            profile: PROFILE.to_owned(),
            term: self.term.clone(),
            own_pane: self.own_pane.clone(),
        }
    }
}

struct Reader<'a> {
    environment: &'a BTreeMap<String, String>,
}

impl<'a> Reader<'a> {
    /// A variable that is set to something.
    fn set(&self, name: &str) -> Option<&'a str> {
        self.environment.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    fn either(&self, ours: &str, theirs: &str) -> Option<PathBuf> {
        self.set(ours).or_else(|| self.set(theirs)).map(PathBuf::from)
    }

    fn socket(&self, flags: &Flags) -> Result<Socket, Invalid> {
        let flag_path = flags.socket_path.as_ref().map(|p| p.to_string_lossy());
        let places = [
            ("-L", flags.socket_name.as_deref(), "-S", flag_path.as_deref()),
            (
                "PANEMIRROR_SOCKET",
                self.set("PANEMIRROR_SOCKET"),
                "PANEMIRROR_SOCKET_PATH",
                self.set("PANEMIRROR_SOCKET_PATH"),
            ),
        ];
        for (name_setting, name, path_setting, path) in places {
            match (name, path) {
                (Some(_), Some(path)) => {
                    return Err(Invalid {
                        setting: path_setting.to_owned(),
                        value: path.to_owned(),
                        wanted: "left out where a socket name is given too",
                    });
                }
                (Some(name), None) => return named(name_setting, name),
                (None, Some("")) => {
                    return Err(Invalid {
                        setting: path_setting.to_owned(),
                        value: String::new(),
                        wanted: "the path of a socket",
                    });
                }
                (None, Some(path)) => {
                    // The flag keeps bytes that are not UTF-8.
                    let exact = flags.socket_path.clone().filter(|_| path_setting == "-S");
                    return Ok(Socket::Path(exact.unwrap_or_else(|| PathBuf::from(path))));
                }
                (None, None) => {}
            }
        }
        // The Python server takes the path where both are set.
        match (self.set("LIBTMUX_SOCKET_PATH"), self.set("LIBTMUX_SOCKET")) {
            (Some(path), _) => Ok(Socket::Path(PathBuf::from(path))),
            (None, Some(name)) => named("LIBTMUX_SOCKET", name),
            (None, None) => Ok(Socket::Default),
        }
    }

    fn wait_max(&self, flags: &Flags, warnings: &mut Vec<String>) -> Result<Option<Duration>, Invalid> {
        let ours =
            flags.wait_max_seconds.as_deref().map(|value| ("--wait-max-seconds", value)).or_else(|| {
                self.set("PANEMIRROR_WAIT_MAX_SECONDS").map(|value| ("PANEMIRROR_WAIT_MAX_SECONDS", value))
            });
        if let Some((setting, value)) = ours {
            return match value.trim().parse::<f64>() {
                Ok(seconds) if (1.0..=120.0).contains(&seconds) => Ok(Some(Duration::from_secs_f64(seconds))),
                _ => Err(Invalid { setting: setting.to_owned(), value: value.to_owned(), wanted: SECONDS }),
            };
        }
        let setting = "LIBTMUX_MCP_WAIT_MAX_SECONDS";
        let Some(value) = self.set(setting) else {
            return Ok(None);
        };
        let shown: String = value.chars().take(80).collect();
        match value.trim().parse::<f64>() {
            Ok(seconds) if seconds.is_finite() => {
                let clamped = seconds.clamp(1.0, 120.0);
                if clamped != seconds {
                    warnings.push(format!("{setting} is {shown:?}, out of 1 to 120; using {clamped}"));
                }
                Ok(Some(Duration::from_secs_f64(clamped)))
            }
            _ => {
                warnings.push(format!("{setting} is {shown:?}, not a number of seconds; using 30"));
                Ok(None)
            }
        }
    }

    fn toolsets(&self, flags: &Flags) -> Result<Option<Toolsets>, Invalid> {
        if let Some(text) = &flags.toolsets {
            return Toolsets::parse("--toolsets", text).map(Some);
        }
        for name in ["PANEMIRROR_TOOLSETS", "LIBTMUX_TOOLSETS"] {
            if let Some(text) = self.environment.get(name) {
                return Toolsets::parse(name, text).map(Some);
            }
        }
        Ok(None)
    }

    fn rows(&self, name: &str) -> Result<Option<usize>, Invalid> {
        let Some(text) = self.set(name) else {
            return Ok(None);
        };
        match text.trim().parse::<usize>() {
            Ok(rows) if rows <= 1_000_000 => Ok(Some(rows)),
            _ => Err(Invalid { setting: name.to_owned(), value: text.to_owned(), wanted: ROWS }),
        }
    }

    fn term(&self) -> Result<Option<String>, Invalid> {
        let Some(text) = self.set("PANEMIRROR_TERM") else {
            return Ok(None);
        };
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'+');
        if text.bytes().all(plain) {
            return Ok(Some(text.to_owned()));
        }
        Err(Invalid {
            setting: "PANEMIRROR_TERM".to_owned(),
            value: text.to_owned(),
            wanted: "the name of a terminal type",
        })
    }
}

fn named(setting: &str, name: &str) -> Result<Socket, Invalid> {
    if is_socket_name(name) {
        return Ok(Socket::Name(name.to_owned()));
    }
    Err(Invalid { setting: setting.to_owned(), value: name.to_owned(), wanted: SOCKET_NAME })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(vars: &[(&str, &str)]) -> Result<(Config, Vec<String>), Invalid> {
        load_with(&Flags::default(), vars)
    }

    fn load_with(flags: &Flags, vars: &[(&str, &str)]) -> Result<(Config, Vec<String>), Invalid> {
        let map = vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Config::load(flags, &map)
    }

    #[test]
    fn nothing_set_gives_the_defaults() {
        assert_eq!(load(&[]), Ok((Config::default(), Vec::new())));
        let emptied = [
            ("PANEMIRROR_SOCKET", ""),
            ("LIBTMUX_SOCKET_PATH", ""),
            ("PANEMIRROR_WAIT_MAX_SECONDS", ""),
            ("PANEMIRROR_RETENTION", ""),
        ];
        assert_eq!(load(&emptied), Ok((Config::default(), Vec::new())));
    }

    #[test]
    fn a_malformed_setting_of_ours_stops_the_start_and_is_named() {
        let cases = [
            ("PANEMIRROR_WAIT_MAX_SECONDS", "0.5"),
            ("PANEMIRROR_WAIT_MAX_SECONDS", "121"),
            ("PANEMIRROR_WAIT_MAX_SECONDS", "soon"),
            ("PANEMIRROR_WAIT_MAX_SECONDS", "NaN"),
            ("PANEMIRROR_WAIT_MAX_SECONDS", "inf"),
            ("PANEMIRROR_WAIT_MAX_SECONDS", "-3"),
            ("PANEMIRROR_SOCKET", "a/b"),
            ("PANEMIRROR_SOCKET", ".."),
            ("PANEMIRROR_SOCKET", "two words"),
            ("LIBTMUX_SOCKET", "a/b"),
            ("PANEMIRROR_TOOLSETS", "inspect,destroy"),
            ("PANEMIRROR_TOOLSETS", "inspect,,execute"),
            ("LIBTMUX_TOOLSETS", "unknown"),
            ("PANEMIRROR_RETENTION", "-1"),
            ("PANEMIRROR_RETENTION", "1000001"),
            ("PANEMIRROR_HISTORY_LIMIT", "many"),
            ("PANEMIRROR_TERM", "xterm\n"),
        ];
        for (name, value) in cases {
            let error = load(&[(name, value)]).unwrap_err().to_string();
            assert!(error.contains(name), "{name}={value}: {error}");
            assert!(error.contains("must be"), "{name}={value}: {error}");
        }
    }

    #[test]
    fn the_python_servers_ceiling_is_clamped_with_one_warning() {
        let cases = [
            ("60", 60.0, 0),
            ("2.5", 2.5, 0),
            ("0", 1.0, 1),
            ("-4", 1.0, 1),
            ("9999", 120.0, 1),
            ("soon", 30.0, 1),
            ("nan", 30.0, 1),
            ("inf", 30.0, 1),
        ];
        for (value, seconds, warned) in cases {
            let (config, warnings) = load(&[("LIBTMUX_MCP_WAIT_MAX_SECONDS", value)]).unwrap();
            assert_eq!(config.wait_max.as_secs_f64(), seconds, "{value}");
            assert_eq!(warnings.len(), warned, "{value}: {warnings:?}");
        }
    }

    #[test]
    fn flags_beat_our_variables_and_those_beat_the_python_servers() {
        let vars = [
            ("PANEMIRROR_SOCKET", "ours"),
            ("LIBTMUX_SOCKET_PATH", "/theirs"),
            ("PANEMIRROR_WAIT_MAX_SECONDS", "40"),
            ("LIBTMUX_MCP_WAIT_MAX_SECONDS", "50"),
            ("PANEMIRROR_TOOLSETS", "inspect"),
            ("LIBTMUX_TOOLSETS", "execute"),
            ("LIBTMUX_TMUX_BIN", "/theirs/tmux"),
        ];
        let (config, _) = load(&vars).unwrap();
        assert_eq!(config.socket, Socket::Name("ours".into()));
        assert_eq!(config.wait_max, Duration::from_secs(40));
        assert_eq!(config.toolsets, Toolsets(vec![Toolset::Inspect]));
        assert_eq!(config.tmux_bin, PathBuf::from("/theirs/tmux"));
        let flags = Flags {
            socket_path: Some("/flag".into()),
            tmux_bin: Some("/flag/tmux".into()),
            wait_max_seconds: Some("5".into()),
            toolsets: Some("all".into()),
            log: Some("debug".into()),
            ..Flags::default()
        };
        let (config, _) = load_with(&flags, &vars).unwrap();
        assert_eq!(config.socket, Socket::Path("/flag".into()));
        assert_eq!(config.wait_max, Duration::from_secs(5));
        assert_eq!(config.toolsets, Toolsets::all());
        assert_eq!(config.tmux_bin, PathBuf::from("/flag/tmux"));
        assert_eq!(config.log, "debug");
    }

    #[test]
    fn a_socket_name_and_a_path_in_one_place_contradict_each_other() {
        let both = [("PANEMIRROR_SOCKET", "a"), ("PANEMIRROR_SOCKET_PATH", "/b")];
        assert!(load(&both).is_err());
        let theirs = [("LIBTMUX_SOCKET", "a"), ("LIBTMUX_SOCKET_PATH", "/b")];
        assert_eq!(load(&theirs).unwrap().0.socket, Socket::Path("/b".into()));
    }

    #[test]
    fn an_empty_toolset_list_offers_nothing() {
        let (config, _) = load(&[("PANEMIRROR_TOOLSETS", "")]).unwrap();
        assert!(Toolset::ALL.iter().all(|set| !config.toolsets.contains(*set)));
        let (config, _) = load(&[("LIBTMUX_TOOLSETS", "Inspect, teardown")]).unwrap();
        assert!(config.toolsets.contains(Toolset::Teardown));
        assert!(!config.toolsets.contains(Toolset::Execute));
    }

    #[test]
    fn the_own_pane_is_read_from_tmux_variables() {
        let vars = [("TMUX", "/tmp/a,b/default,123,0"), ("TMUX_PANE", "%7")];
        let own = load(&vars).unwrap().0.own_pane.unwrap();
        assert_eq!(own.socket, PathBuf::from("/tmp/a,b/default"));
        assert_eq!((own.server_pid, own.pane), (123, 7));
        assert_eq!(load(&[("TMUX", "x"), ("TMUX_PANE", "%7")]).unwrap().0.own_pane, None);
    }
}
