//! `wait_for_text`: from the request to the answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::Result;
use crate::limits::{CONFIRM, RESULT_BYTES, RESULT_LINES};
use crate::pane::{Ended, Entry, Pane};
use crate::source::tmux::{Asked, Question};
use crate::wait::{Outcome, TextResult, TextVerdict, TextWatch, keep_tail};

use super::{Found, Moment, Panes, Target, until};

impl Panes {
    /// Waits until text that is new since `moment` decides, the pane ends, or the time is over. Dropping the future withdraws the wait.
    ///
    /// `timeout` is cut to [`Panes::wait_max`]; what was enforced is in the result.
    ///
    /// # Errors
    ///
    /// No such pane, no server, or how the pane ended during the wait.
    pub async fn wait_for_text(
        &self,
        moment: &Moment,
        target: &Target,
        watch: TextWatch,
        timeout: Duration,
    ) -> Result<TextResult> {
        let _place = self.wait_place()?;
        let started = moment.at();
        let deadline = started + timeout.min(self.wait_max());
        let (found, entry) = until(deadline + CONFIRM, "opening the pane", self.enter(target, Some(moment))).await?;
        self.wait_from(&found, entry, watch, timeout, started).await
    }

    /// The same from a known entry into a pane.
    pub(super) async fn wait_from(
        &self,
        found: &Found,
        entry: Entry,
        watch: TextWatch,
        timeout: Duration,
        started: Instant,
    ) -> Result<TextResult> {
        let timeout = timeout.min(self.wait_max());
        let deadline = started + timeout;
        let pane = &found.pane;
        let watch = Arc::new(watch);
        // Asked where the hit is found: the answer is on its way before this task is woken.
        let question = found.server.as_ref().and_then(|server| server.question(pane));
        let on_hit = move || question.and_then(Question::ask);
        let (mut wait, shown) = pane.watch_text(Arc::clone(&watch), entry.mark, on_hit);
        let verdict = match tokio::time::timeout_at(deadline.into(), wait.verdict()).await {
            Ok(Ok(verdict)) => Some(verdict),
            Ok(Err(why)) => return Err(why.error(pane.id())),
            Err(_) => wait.try_verdict(),
        };
        drop(wait);
        let (verdict, asked) = verdict.map_or((None, None), |(verdict, asked)| (Some(verdict), asked));
        self.confirm(found, verdict.is_some(), asked, deadline).await?;
        let mut result = observe(pane, &entry, verdict);
        let is_found = result.outcome.is_found();
        result.matched_at_entry = !is_found && shown.iter().any(|line| watch.shows_old(line, entry.mark));
        result.elapsed = started.elapsed();
        result.effective_timeout = timeout;
        Ok(result)
    }

    /// Makes sure that the pane is still the one that was watched. Text of a pane that has ended since still counts.
    async fn confirm(&self, found: &Found, hit: bool, asked: Option<Asked>, deadline: Instant) -> Result<()> {
        if let Some(why) = found.pane.ended() {
            return match why {
                Ended::Respawned => Err(why.error(found.pane.id())),
                _ if hit => Ok(()),
                _ => Err(why.error(found.pane.id())),
            };
        }
        let Some(server) = &found.server else { return Ok(()) };
        let limit = deadline.max(Instant::now()) + CONFIRM;
        let answer = async {
            match asked {
                Some(asked) => server.confirmed(&found.pane, asked).await,
                None => server.confirm(&found.pane).await,
            }
        };
        match until(limit, "is the pane still the same?", answer).await {
            Err(crate::Error::PaneEnded(_)) if hit => Ok(()),
            Err(crate::Error::ServerLost(_)) if hit && !server.is_alive() => Ok(()),
            other => other,
        }
    }
}

/// Reads off the pane what the result says.
fn observe(pane: &Arc<Pane>, entry: &Entry, verdict: Option<TextVerdict>) -> TextResult {
    let (alternate_screen, saw_new_output, tail) = pane.with_mirror(|mirror| {
        let screen = mirror.screen();
        let alternate =
            entry.alternate || screen.is_alternate() || screen.alternate_entries() > entry.alternate_entries;
        (alternate, mirror.wrote_since(entry.mark), mirror.rows_from(entry.cursor_row, RESULT_LINES))
    });
    let (outcome, matched_index, matched_lines) = match verdict {
        Some(verdict) if verdict.stopped => (Outcome::Stopped, verdict.index, verdict.lines),
        Some(TextVerdict { index: None, lines, .. }) => (Outcome::AnyOutput, None, lines),
        Some(verdict) => (Outcome::Matched, verdict.index, verdict.lines),
        None if alternate_screen => (Outcome::AlternateScreen, None, Vec::new()),
        None => (Outcome::Timeout, None, Vec::new()),
    };
    TextResult {
        outcome,
        matched_index,
        matched_lines,
        tail: keep_tail(tail, RESULT_LINES, RESULT_BYTES).0,
        saw_new_output,
        matched_at_entry: false,
        alternate_screen,
        pane_id: pane.id().to_string(),
        elapsed: Duration::ZERO,
        effective_timeout: Duration::ZERO,
    }
}
