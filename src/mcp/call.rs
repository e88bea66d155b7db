//! One call of a tool while it runs: how it is withdrawn, and what the client hears meanwhile.

use std::pin::pin;
use std::time::Duration;

use rmcp::model::ProgressNotificationParam;
use rmcp::service::{RequestContext, RoleServer};
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep};

use super::stop::Stop;
use crate::error::{Error, Result};
use crate::panes::{Moment, Panes};

/// How often a client that asked for progress hears of it: some reset their own timeout on it.
const PROGRESS_EVERY: Duration = Duration::from_secs(5);

/// How long a call may still run after the client went away: enough to answer what was asked in one breath with
/// the end of the input, and short enough that the server ends within 100 ms.
const LAST_WORDS: Duration = Duration::from_millis(40);

/// One call of a tool.
pub(super) struct Call {
    context: RequestContext<RoleServer>,
    stop: Stop,
}

impl Call {
    pub(super) fn new(context: RequestContext<RoleServer>, stop: Stop) -> Self {
        Self { context, stop }
    }

    /// The moment its request was read.
    pub(super) fn moment(&self, panes: &Panes) -> Moment {
        self.context.extensions.get::<Moment>().cloned().unwrap_or_else(|| panes.moment(None, None))
    }

    /// Runs `work` until it is done or the call is withdrawn, which drops it.
    pub(super) async fn run<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::select! {
            biased;
            error = self.withdrawn() => Err(error),
            done = work => done,
        }
    }

    /// Runs `work`, which takes at most about `limit`, and tells a client that asked for it how much time is left.
    pub(super) async fn run_with_progress<T>(
        &self,
        limit: Duration,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        if self.context.meta.get_progress_token().is_none() {
            return work.await;
        }
        let start = Instant::now();
        let mut ticks = interval_at(start + PROGRESS_EVERY, PROGRESS_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                _ = ticks.tick() => {}
            }
            // A client that does not read must not hold the answer up.
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = self.report(start.elapsed(), limit) => {}
            }
        }
    }

    /// Waits until the client withdraws the call or goes away.
    async fn withdrawn(&self) -> Error {
        let gone = async {
            self.stop.raised().await;
            sleep(LAST_WORDS).await;
        };
        tokio::select! {
            () = self.context.ct.cancelled() => Error::Withdrawn("the call was withdrawn".to_owned()),
            () = gone => Error::Withdrawn("the server is shutting down".to_owned()),
        }
    }

    async fn report(&self, done: Duration, total: Duration) {
        let Some(token) = self.context.meta.get_progress_token() else {
            return;
        };
        let left = total.saturating_sub(done).as_secs_f64();
        let note = ProgressNotificationParam::new(token, done.as_secs_f64())
            .with_total(total.as_secs_f64())
            .with_message(format!("{left:.0} s left"));
        // A client that is gone is noticed by the transport.
        let _ = self.context.peer.notify_progress(note).await;
    }
}
