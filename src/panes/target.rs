//! Which pane a call is about.

use std::sync::Arc;

use crate::pane::{Ended, Entry, Pane, PaneId};
use crate::source::tmux::{PaneInfo, Server};
use crate::{Error, Result};

use super::{Found, Moment, Panes};

/// The arguments that name a pane. All of them together must fit one; none at all means the first pane of the lowest
/// session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// `%N`, or `pty:N-XXXX` for an embedded pane.
    pub pane_id: Option<String>,
    /// `@N`: its first pane.
    pub window_id: Option<String>,
    /// `$N`: the first pane of its first window.
    pub session_id: Option<String>,
    /// The whole name of a session: the first pane of its first window.
    pub session_name: Option<String>,
    /// Name of the tmux socket.
    pub socket_name: Option<String>,
}

/// What a `pane_id` argument names.
pub(super) enum Named {
    Tmux(u32),
    Pty(u32),
}

impl Panes {
    /// Reads a `pane_id` argument.
    pub(super) fn parse_pane_id(&self, text: &str) -> Result<Named> {
        let shown: String = text.chars().take(60).collect();
        if let Some(number) = text.strip_prefix('%').and_then(number) {
            return Ok(Named::Tmux(number));
        }
        if let Some(rest) = text.strip_prefix("pty:") {
            let parts = rest.split_once('-');
            let number = parts.and_then(|(number_text, _)| number(number_text));
            let tag = parts.and_then(|(_, tag)| (tag.len() == 4).then(|| u16::from_str_radix(tag, 16).ok())?);
            match (number, tag) {
                (Some(number), Some(tag)) if tag == self.tag() => return Ok(Named::Pty(number)),
                (Some(_), Some(_)) => {
                    return Err(Error::NoSuchPane(format!(
                        "pane {shown} belongs to an earlier panemirror process and is gone; list_panes shows the live ones"
                    )));
                }
                _ => {}
            }
        }
        Err(Error::BadArgument(format!(
            "pane_id {shown:?} is not a pane id: %N for a tmux pane, pty:N-XXXX for an embedded one; list_panes shows them"
        )))
    }

    /// The embedded pane that the target names, if it names one.
    pub(super) fn embedded(&self, target: &Target) -> Result<Option<Found>> {
        let Some(Named::Pty(number)) = target.pane_id.as_deref().map(|id| self.parse_pane_id(id)).transpose()? else {
            return Ok(None);
        };
        let others = [&target.window_id, &target.session_id, &target.session_name, &target.socket_name];
        if let Some(other) = others.into_iter().flatten().next() {
            return Err(Error::BadArgument(format!(
                "an embedded pane belongs to no tmux window, session or socket, but {other:?} was given too"
            )));
        }
        let pty = self.pty(number).ok_or_else(|| no_such_pane(target.pane_id.as_deref().unwrap_or_default()))?;
        Ok(Some(Found { pane: Arc::clone(pty.pane()), server: None }))
    }

    /// The lowest running embedded pane: what a call without a target means where no tmux server runs.
    pub(super) fn first_embedded(&self) -> Option<Found> {
        let ptys = self.ptys.lock();
        let pty = ptys.values().find(|pty| pty.ended_at().is_none())?;
        Some(Found { pane: Arc::clone(pty.pane()), server: None })
    }

    /// Finds the pane and the mark of the moment that the call was read (now, if none is given): what is applied by
    /// then is old.
    ///
    /// A tmux pane that has no mirror yet is captured at once, then mirrored; what differs from the capture is new.
    pub(super) async fn enter(&self, target: &Target, moment: Option<&Moment>) -> Result<(Found, Entry)> {
        let now = self.moment(target.pane_id.as_deref().filter(|_| moment.is_none()), target.socket_name.as_deref());
        let moment = moment.unwrap_or(&now);
        if let Some(found) = self.embedded(target)? {
            let entry = moment.entry(found.pane.id()).map_or_else(|| found.pane.enter(), |(_, entry)| entry);
            return Ok((found, entry));
        }
        let socket = self.socket(target.socket_name.as_deref())?;
        let server = match self.server(&socket).await {
            Ok(server) => server,
            Err(error @ (Error::NoServer(_) | Error::NoTmux(_))) if *target == Target::default() => {
                let found = self.first_embedded().ok_or(error)?;
                let entry = moment.entry(found.pane.id()).map_or_else(|| found.pane.enter(), |(_, entry)| entry);
                return Ok((found, entry));
            }
            Err(error) => return Err(error),
        };
        let number = match direct(self, target)? {
            Some(number) => number,
            None => resolve(&server.list().await?, target, self)?.pane,
        };
        self.enter_pane(&server, number, moment).await
    }

    async fn enter_pane(&self, server: &Arc<Server>, number: u32, moment: &Moment) -> Result<(Found, Entry)> {
        let found = |pane: Arc<Pane>| Found { pane, server: Some(Arc::clone(server)) };
        let id = PaneId::Tmux { server: server.id(), pane: number };
        if let Some((pane, entry)) = moment.entry(&id) {
            return Ok((found(pane), entry));
        }
        let snapshot = match moment.glimpse(number) {
            Some(glimpse) => server.snapshot_of(glimpse).await?,
            None => server.snapshot(number).await?,
        };
        let process = snapshot.process;
        let (pane, mark) = server.open(number, snapshot).await?;
        if process != 0 && pane.process() != process {
            return Err(Ended::Respawned.error(&id));
        }
        let entry = pane.entry_at(mark);
        Ok((found(pane), entry))
    }
}

/// The pane number where the target is a tmux pane id and nothing else.
fn direct(panes: &Panes, target: &Target) -> Result<Option<u32>> {
    if target.window_id.is_some() || target.session_id.is_some() || target.session_name.is_some() {
        return Ok(None);
    }
    match target.pane_id.as_deref().map(|id| panes.parse_pane_id(id)).transpose()? {
        Some(Named::Tmux(number)) => Ok(Some(number)),
        _ => Ok(None),
    }
}

/// The pane of a list that the target names.
pub(super) fn resolve<'a>(list: &'a [PaneInfo], target: &Target, panes: &Panes) -> Result<&'a PaneInfo> {
    let pane = match target.pane_id.as_deref().map(|id| panes.parse_pane_id(id)).transpose()? {
        Some(Named::Tmux(number)) => Some(number),
        _ => None,
    };
    let window = parse_id(target.window_id.as_deref(), '@', "window_id")?;
    let session = parse_id(target.session_id.as_deref(), '$', "session_id")?;
    let name = target.session_name.as_deref();

    // Each argument alone must name something, so that the error can say which one does not.
    exists(list, pane, |info, pane| info.pane == pane, || no_such_pane(&shown(target.pane_id.as_deref())))?;
    exists(list, window, |info, window| info.window == window, || missing("window", target.window_id.as_deref()))?;
    exists(
        list,
        session,
        |info, session| info.session == session,
        || missing("session", target.session_id.as_deref()),
    )?;
    exists(list, name, |info, name| info.session_name == name, || missing("session", name))?;

    let fits = |info: &&PaneInfo| {
        pane.is_none_or(|pane| info.pane == pane)
            && window.is_none_or(|window| info.window == window)
            && session.is_none_or(|session| info.session == session)
            && name.is_none_or(|name| info.session_name == name)
    };
    let first = |info: &&PaneInfo| (info.session, info.window_index, info.pane_index);
    list.iter().filter(fits).min_by_key(first).ok_or_else(|| {
        if list.is_empty() {
            Error::NoSuchPane("the tmux server has no pane; open_pane makes one".into())
        } else {
            Error::BadArgument(format!("the targets contradict each other: no pane fits all of {}", all(target)))
        }
    })
}

fn exists<T: Copy>(
    list: &[PaneInfo],
    wanted: Option<T>,
    fits: impl Fn(&PaneInfo, T) -> bool,
    error: impl Fn() -> Error,
) -> Result<()> {
    match wanted {
        Some(wanted) if !list.iter().any(|info| fits(info, wanted)) => Err(error()),
        _ => Ok(()),
    }
}

fn parse_id(text: Option<&str>, sigil: char, argument: &str) -> Result<Option<u32>> {
    let Some(text) = text else { return Ok(None) };
    match text.strip_prefix(sigil).and_then(number) {
        Some(number) => Ok(Some(number)),
        None => Err(Error::BadArgument(format!(
            "{argument} {:?} is not {sigil} and a number; list_panes shows the ids",
            shown(Some(text))
        ))),
    }
}

fn number(text: &str) -> Option<u32> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

fn shown(text: Option<&str>) -> String {
    text.unwrap_or_default().chars().take(60).collect()
}

fn missing(what: &str, text: Option<&str>) -> Error {
    Error::NoSuchPane(format!("no {what} {}; list_panes shows the live ones", shown(text)))
}

pub(super) fn no_such_pane(id: &str) -> Error {
    Error::NoSuchPane(format!("no pane {id}; list_panes shows the live ones"))
}

fn all(target: &Target) -> String {
    let named = [
        ("pane_id", &target.pane_id),
        ("window_id", &target.window_id),
        ("session_id", &target.session_id),
        ("session_name", &target.session_name),
    ];
    let parts: Vec<String> = named
        .into_iter()
        .filter_map(|(name, value)| value.as_deref().map(|value| format!("{name} {}", shown(Some(value)))))
        .collect();
    parts.join(", ")
}

/// The number of a tmux pane.
pub(super) fn tmux_number(id: &PaneId) -> Option<u32> {
    match id {
        PaneId::Tmux { pane, .. } => Some(*pane),
        PaneId::Pty { .. } => None,
    }
}
