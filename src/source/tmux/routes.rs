//! Where the output of each pane of a control client goes.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::oneshot;

use crate::geometry::Size;

/// Most bytes held back while a pane is captured; a pane that writes more meanwhile is captured again.
const MAX_HELD: usize = 32 << 20;

/// What takes the output of one pane.
pub(super) trait Tap: Send + Sync {
    /// Takes one `%output` line.
    fn deliver(&self, bytes: &[u8], now: Instant);
    /// The pane got another size.
    fn resize(&self, size: Size);
}

/// The state of one pane at one client.
#[derive(Default)]
struct Route {
    paused: bool,
    /// A pause was asked for and has not come yet.
    pausing: bool,
    sink: Sink,
    /// Told once output is held.
    held: Option<oneshot::Sender<()>>,
    hold: bool,
    deliveries: u64,
    newest: Option<Instant>,
    follow_layout: bool,
}

#[derive(Default)]
enum Sink {
    /// Nobody wants it: to be muted.
    #[default]
    None,
    Live(Arc<dyn Tap>),
    Held(Held),
}

#[derive(Default)]
struct Held {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    overflow: bool,
}

impl Held {
    fn push(&mut self, bytes: &[u8]) {
        if self.bytes.len() + bytes.len() > MAX_HELD {
            self.overflow = true;
        } else {
            self.bytes.extend_from_slice(bytes);
            self.ends.push(self.bytes.len());
        }
    }

    fn deliver(&self, tap: &dyn Tap, now: Instant) {
        let mut start = 0;
        for end in &self.ends {
            tap.deliver(self.bytes.get(start..*end).unwrap_or_default(), now);
            start = *end;
        }
    }
}

/// What the reader is to do with a piece of output.
pub(super) enum Step {
    /// Nothing more.
    Done,
    /// Hand it on, with no lock held.
    Deliver(Arc<dyn Tap>),
    /// Ask tmux to hold the pane's output back.
    Mute,
}

/// The routes of one client.
#[derive(Default)]
pub(super) struct Routes {
    panes: HashMap<u32, Route>,
}

impl Routes {
    /// A pane wrote something.
    pub(super) fn output(&mut self, pane: u32, bytes: &[u8], now: Instant) -> Step {
        let route = self.panes.entry(pane).or_default();
        match &mut route.sink {
            Sink::Live(tap) => {
                route.deliveries += 1;
                route.newest = Some(now);
                Step::Deliver(Arc::clone(tap))
            }
            Sink::Held(held) => {
                held.push(bytes);
                Step::Done
            }
            Sink::None if route.pausing || route.paused => Step::Done,
            Sink::None => {
                route.pausing = true;
                Step::Mute
            }
        }
    }

    /// `%pause` came. `false` if nobody asked for it: tmux dropped output.
    pub(super) fn paused(&mut self, pane: u32) -> bool {
        let route = self.panes.entry(pane).or_default();
        let wanted = route.pausing || !matches!(route.sink, Sink::Live(_));
        route.paused = true;
        route.pausing = false;
        if route.hold {
            route.start_holding();
        }
        wanted
    }

    /// `%continue` came.
    pub(super) fn continued(&mut self, pane: u32) {
        let route = self.panes.entry(pane).or_default();
        route.paused = false;
        route.pausing = false;
    }

    /// Holds a pane's output from its next pause on; `None` if it is held already, else told when it is.
    ///
    /// Until then a live pane goes on getting its output.
    pub(super) fn hold(&mut self, pane: u32) -> Option<oneshot::Receiver<()>> {
        let route = self.panes.entry(pane).or_default();
        let (sender, receiver) = oneshot::channel();
        route.hold = true;
        route.held = Some(sender);
        if route.paused {
            route.start_holding();
            return None;
        }
        route.pausing = true;
        Some(receiver)
    }

    /// Hands on what was held and all that follows. `false` if too much came meanwhile: nothing was handed on.
    pub(super) fn release(&mut self, pane: u32, tap: Arc<dyn Tap>, now: Instant, follow_layout: bool) -> bool {
        let route = self.panes.entry(pane).or_default();
        route.hold = false;
        route.held = None;
        route.follow_layout = follow_layout;
        if let Sink::Held(held) = &route.sink {
            if held.overflow {
                route.sink = Sink::None;
                return false;
            }
            held.deliver(&*tap, now);
            if !held.ends.is_empty() {
                route.deliveries += 1;
                route.newest = Some(now);
            }
        }
        route.sink = Sink::Live(tap);
        true
    }

    /// Nobody wants a pane's output any more; `true` if it is to be muted now.
    pub(super) fn forget(&mut self, pane: u32) -> bool {
        let Some(route) = self.panes.get_mut(&pane) else {
            return false;
        };
        let mute = !route.paused && !route.pausing;
        route.sink = Sink::None;
        route.hold = false;
        route.held = None;
        route.pausing |= mute;
        mute
    }

    /// A pane is gone for good.
    pub(super) fn remove(&mut self, pane: u32) {
        self.panes.remove(&pane);
    }

    /// How many deliveries a live pane got, and when it got the newest.
    pub(super) fn activity(&self, pane: u32) -> Option<(u64, Option<Instant>)> {
        let route = self.panes.get(&pane)?;
        matches!(route.sink, Sink::Live(_)).then_some((route.deliveries, route.newest))
    }

    /// The tap of a live pane whose size follows the layout.
    pub(super) fn follows_layout(&self, pane: u32) -> Option<Arc<dyn Tap>> {
        match self.panes.get(&pane) {
            Some(Route { sink: Sink::Live(tap), follow_layout: true, .. }) => Some(Arc::clone(tap)),
            _ => None,
        }
    }
}

impl Route {
    fn start_holding(&mut self) {
        self.sink = Sink::Held(Held::default());
        if let Some(told) = self.held.take() {
            let _ = told.send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;

    #[derive(Default)]
    struct Log(Mutex<Vec<String>>);

    impl Tap for Log {
        fn deliver(&self, bytes: &[u8], _: Instant) {
            self.0.lock().push(String::from_utf8_lossy(bytes).into_owned());
        }
        fn resize(&self, _: Size) {}
    }

    fn feed(routes: &mut Routes, text: &str) -> bool {
        let now = Instant::now();
        match routes.output(1, text.as_bytes(), now) {
            Step::Deliver(tap) => tap.deliver(text.as_bytes(), now),
            Step::Mute => return true,
            Step::Done => {}
        }
        false
    }

    #[test]
    fn an_unwanted_pane_is_muted_once() {
        let mut routes = Routes::default();
        assert!(feed(&mut routes, "a"));
        assert!(!feed(&mut routes, "b"));
        assert!(routes.paused(1));
        routes.continued(1);
        assert!(feed(&mut routes, "c"));
    }

    #[test]
    fn output_after_the_pause_is_held_in_its_pieces() {
        let mut routes = Routes::default();
        let log = Arc::new(Log::default());
        let told = routes.hold(1);
        feed(&mut routes, "before");
        assert!(routes.paused(1));
        assert!(told.unwrap().try_recv().is_ok());
        routes.continued(1);
        feed(&mut routes, "one");
        feed(&mut routes, "two");
        assert!(routes.release(1, log.clone(), Instant::now(), false));
        feed(&mut routes, "three");
        assert_eq!(*log.0.lock(), ["one", "two", "three"]);
    }

    #[test]
    fn a_live_pane_stays_live_until_its_pause() {
        let mut routes = Routes::default();
        let log = Arc::new(Log::default());
        routes.hold(1);
        routes.paused(1);
        routes.continued(1);
        routes.release(1, log.clone(), Instant::now(), false);
        routes.hold(1);
        feed(&mut routes, "live");
        assert_eq!(*log.0.lock(), ["live"]);
        assert!(routes.paused(1));
        routes.continued(1);
        feed(&mut routes, "held");
        assert_eq!(log.0.lock().len(), 1);
        // A pause that nobody asked for is a gap.
        routes.release(1, log, Instant::now(), false);
        assert!(!routes.paused(1));
    }

    #[test]
    fn too_much_held_output_is_told() {
        let mut routes = Routes::default();
        routes.hold(1);
        routes.paused(1);
        let piece = "x".repeat(1 << 20);
        for _ in 0..33 {
            feed(&mut routes, &piece);
        }
        assert!(!routes.release(1, Arc::new(Log::default()), Instant::now(), false));
    }
}
