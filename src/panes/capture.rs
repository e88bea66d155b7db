//! `capture_since`: the rows written since a cursor.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::limits::ANSWER;
use crate::mirror::Since;
use crate::pane::{Pane, PaneId};
use crate::wait::keep_tail;
use crate::{Error, Result};

use super::cursor::Cursor;
use super::target::Named;
use super::{Found, Panes, Target, until};

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaptureRequest {
    /// A cursor of an earlier answer; without one the visible screen is given.
    pub cursor: Option<String>,
    /// Most rows to return, the newest kept; none: no limit.
    pub max_lines: Option<usize>,
    /// Most bytes of text to return, the newest kept; none: no limit.
    pub max_bytes: Option<usize>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The pane.
    pub pane_id: String,
    /// The moment of this answer.
    pub cursor: String,
    /// One entry a screen row, oldest first, plain, blanks at the end cut.
    pub lines: Vec<String>,
    /// Time that it took.
    pub elapsed: Duration,
    /// Rows written since the cursor are not known any more; `lines` is the visible screen.
    pub lines_missed: bool,
    /// Rows or bytes were cut from the head of `lines`.
    pub truncated: bool,
    /// Number of rows cut.
    pub truncated_lines: usize,
    /// Number of bytes cut, those of the rows cut included.
    pub truncated_bytes: usize,
}

impl Panes {
    /// Returns what was written since a cursor, or the visible screen, and a fresh cursor.
    ///
    /// # Errors
    ///
    /// No such pane; a cursor that is malformed, of another pane, or of a program that is gone.
    pub async fn capture_since(&self, target: &Target, request: CaptureRequest) -> Result<Capture> {
        let started = Instant::now();
        let cursor = request.cursor.as_deref().map(Cursor::decode).transpose()?;
        let target = match &cursor {
            Some(cursor) => self.cursor_target(cursor, target)?,
            None => target.clone(),
        };
        let deadline = started + ANSWER;
        let found = until(deadline, "opening the pane", self.attached(&target)).await;
        let found = found.map_err(|error| self.cursor_error(error, cursor.as_ref()))?;
        if let Some(cursor) = &cursor {
            self.check_cursor(cursor, &found)?;
        }
        let max_rows = request.max_lines.unwrap_or(usize::MAX);
        let since = cursor.filter(|cursor| cursor.nonce == self.nonce && cursor.mirror == found.pane.serial());
        let asked = cursor.is_some();
        let (rows, skipped, missed, now) = found.pane.with_mirror(|mirror| {
            let (since, skipped) = match &since {
                Some(cursor) => mirror.rows_since(cursor.mark, max_rows),
                None => (Since { rows: mirror.visible_rows_trimmed(), missed: asked }, Default::default()),
            };
            (since.rows, skipped, since.missed, mirror.mark())
        });
        found.pane.touch();
        let (lines, cut_lines, cut_bytes) = keep_tail(rows, max_rows, request.max_bytes.unwrap_or(usize::MAX));
        Ok(Capture {
            pane_id: found.pane.id().to_string(),
            cursor: self.cursor_at(&found.pane, now).encode(),
            lines,
            elapsed: started.elapsed(),
            lines_missed: missed,
            truncated: skipped.rows + cut_lines > 0 || cut_bytes > 0,
            truncated_lines: skipped.rows + cut_lines,
            truncated_bytes: skipped.bytes + cut_bytes,
        })
    }

    /// A cursor at a mark of a pane.
    pub(super) fn cursor_at(&self, pane: &Arc<Pane>, mark: crate::mirror::Mark) -> Cursor {
        Cursor { pane: *pane.id(), process: pane.process(), nonce: self.nonce, mirror: pane.serial(), mark }
    }

    /// The pane of the target, mirrored, and with everything applied that tmux had shown when this was called.
    pub(super) async fn attached(&self, target: &Target) -> Result<Found> {
        let (found, _) = self.enter(target, None).await?;
        found.pane.check_alive()?;
        if let Some(server) = &found.server {
            // The answer comes behind the output that the server had by then.
            server.confirm(&found.pane).await?;
        }
        Ok(found)
    }

    /// The target of a call with a cursor: the cursor's pane, with which a target given beside it must agree.
    fn cursor_target(&self, cursor: &Cursor, target: &Target) -> Result<Target> {
        let id = cursor.pane.to_string();
        if let Some(other) = target.pane_id.as_deref() {
            let same = match (self.parse_pane_id(other)?, &cursor.pane) {
                (Named::Tmux(number), PaneId::Tmux { pane, .. }) => number == *pane,
                (Named::Pty(_), PaneId::Pty { .. }) => *other == id,
                _ => false,
            };
            if !same {
                return Err(Error::BadCursor(format!(
                    "the cursor is of pane {id}, but pane_id is {other}; give the cursor of that pane or none"
                )));
            }
        }
        if matches!(cursor.pane, PaneId::Pty { .. }) && cursor.nonce != self.nonce {
            return Err(Error::BadCursor(format!(
                "the cursor is of embedded pane {id} of an earlier panemirror process, which is gone; leave it out"
            )));
        }
        Ok(Target { pane_id: Some(id), ..target.clone() })
    }

    /// Checks that the pane found is the one of the cursor, with the same program.
    fn check_cursor(&self, cursor: &Cursor, found: &Found) -> Result<()> {
        let id = found.pane.id();
        if cursor.pane != *id {
            return Err(Error::BadCursor(format!(
                "the cursor is of pane {} of another tmux server, which is not the one on this socket; leave it out",
                cursor.pane
            )));
        }
        if cursor.process != found.pane.process() {
            return Err(Error::PaneRespawned(format!(
                "pane {id} was respawned since the cursor was given: another program runs in it now; leave the cursor out"
            )));
        }
        Ok(())
    }

    fn cursor_error(&self, error: Error, cursor: Option<&Cursor>) -> Error {
        match (error, cursor) {
            (Error::NoSuchPane(_), Some(cursor)) => Error::PaneEnded(format!(
                "pane {} of the cursor has ended: it was killed or its program exited; list_panes shows the live ones",
                cursor.pane
            )),
            (error, _) => error,
        }
    }
}
