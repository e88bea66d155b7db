//! The moment a call was read: marks in every mirrored pane, taken before anything else is done.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;

use crate::pane::{Entry, Pane, PaneId};
use crate::source::tmux::{Glimpse, Server};

use super::Panes;
use super::target::Named;

/// The moment a call was read. What had been applied by then is old to the call, whenever its turn comes.
#[derive(Clone)]
pub struct Moment(Arc<Inner>);

struct Inner {
    at: Instant,
    entries: Vec<(Arc<Pane>, Entry)>,
    /// A capture of the pane that was named, if it has no mirror, asked for at this moment.
    glimpse: Mutex<Option<(u32, Glimpse)>>,
}

impl Moment {
    /// When it was.
    pub fn at(&self) -> Instant {
        self.0.at
    }

    /// The mark in a pane, if it was mirrored and alive at the moment.
    pub(super) fn entry(&self, id: &PaneId) -> Option<(Arc<Pane>, Entry)> {
        let (pane, entry) = self.0.entries.iter().find(|(pane, _)| pane.id() == id)?;
        Some((Arc::clone(pane), *entry))
    }

    /// The capture of a pane that was asked for at the moment.
    pub(super) fn glimpse(&self, pane: u32) -> Option<Glimpse> {
        self.0.glimpse.lock().take_if(|(number, _)| *number == pane).map(|(_, glimpse)| glimpse)
    }
}

impl Panes {
    /// Takes a mark in every pane that is mirrored, and has the pane that a call names captured if it is not. Waits for
    /// nothing. `pane_id` and `socket_name` are the call's arguments, as far as they could be read.
    pub fn moment(&self, pane_id: Option<&str>, socket_name: Option<&str>) -> Moment {
        let at = Instant::now();
        let ptys: Vec<Arc<Pane>> = self.ptys.lock().values().map(|pty| Arc::clone(pty.pane())).collect();
        let servers: Vec<Arc<Server>> = self.servers.lock().values().cloned().collect();
        let mirrored = servers.iter().flat_map(|server| server.mirrored_panes()).map(|(_, pane)| pane);
        let entries: Vec<(Arc<Pane>, Entry)> = mirrored
            .filter(|pane| pane.ended().is_none())
            .chain(ptys)
            .map(|pane| {
                let entry = pane.enter();
                (pane, entry)
            })
            .collect();
        let glimpse = self.glimpse(pane_id, socket_name, &entries);
        Moment(Arc::new(Inner { at, entries, glimpse: Mutex::new(glimpse) }))
    }

    fn glimpse(
        &self,
        pane_id: Option<&str>,
        socket_name: Option<&str>,
        entries: &[(Arc<Pane>, Entry)],
    ) -> Option<(u32, Glimpse)> {
        let Named::Tmux(pane) = self.parse_pane_id(pane_id?).ok()? else { return None };
        let server = self.known_server(&self.socket(socket_name).ok()?)?;
        let id = PaneId::Tmux { server: server.id(), pane };
        if entries.iter().any(|(pane, _)| *pane.id() == id) {
            return None;
        }
        Some((pane, server.glimpse(pane)?))
    }
}
