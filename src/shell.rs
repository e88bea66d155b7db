//! `panemirror wait`: one wait from a shell.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use panemirror::mcp::{TextReport, failure_text, pane_target};
use panemirror::panes::{OpenSpec, Panes, Place, Target};
use panemirror::wait::{Outcome, TextResult, TextWatch};
use panemirror::{Error, Result};

use crate::cli::WaitArgs;

/// The limit of the wait that was asked for.
pub fn limit(args: &WaitArgs) -> Duration {
    Duration::from_secs_f64(args.timeout)
}

/// Waits, on the pane or on the program that was named.
pub async fn wait(panes: &Arc<Panes>, args: &WaitArgs) -> Result<TextResult> {
    let patterns = (!args.any).then_some(args.text.as_slice());
    let watch = TextWatch::compile(patterns, &args.stop, args.regex, args.match_case)?;
    if let Some(pane) = &args.pane {
        let target = pane_target(pane)?;
        let moment = panes.moment(target.pane_id.as_deref(), None);
        return panes.wait_for_text(&moment, &target, watch, limit(args)).await;
    }
    let mut command = Vec::new();
    for word in &args.command {
        let word =
            word.to_str().ok_or_else(|| Error::BadArgument(format!("{} is not UTF-8", word.to_string_lossy())))?;
        command.push(word.to_owned());
    }
    let spec = OpenSpec {
        place: Place::Pty,
        target: Target::default(),
        command: Some(command),
        cwd: None,
        env: BTreeMap::new(),
        size: Some(args.size()),
    };
    let ended = panes.wait_on_command(spec, watch, limit(args)).await;
    ended.map_err(|error| match error {
        // The pane goes with the command: what else could be done with it is of no use here.
        Error::PaneEnded(message) => {
            let how = message.split(';').next().unwrap_or_default();
            Error::PaneEnded(format!("{how} before anything matched"))
        }
        other => other,
    })
}

/// Tells how a wait ended on stdout, as a line and the rows that belong to it, or as JSON; failures go to stderr.
///
/// # Errors
///
/// A stream that is closed; the outcome stands all the same.
pub fn tell(args: &WaitArgs, ended: Result<TextResult>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let result = match ended {
        Ok(result) => result,
        Err(error) if args.json => return writeln!(out, "{}", failure_text(&error)),
        Err(error) => return writeln!(io::stderr(), "panemirror: {error}"),
    };
    if args.json {
        let report = TextReport::from(result);
        return writeln!(out, "{}", serde_json::to_string(&report)?);
    }
    let index = result.matched_index.unwrap_or_default();
    let (what, rows) = match result.outcome {
        Outcome::Matched => (format!("pattern {index}"), &result.matched_lines),
        Outcome::Stopped => (format!("stop {index}"), &result.matched_lines),
        Outcome::AnyOutput => ("output".to_owned(), &result.tail),
        Outcome::AlternateScreen | Outcome::Timeout => ("nothing".to_owned(), &result.tail),
    };
    let seconds = result.elapsed.as_secs_f64();
    let outcome = result.outcome.name();
    writeln!(out, "{outcome}  {what} in {} after {seconds:.3} s", result.pane_id)?;
    for row in rows {
        writeln!(out, "  {row}")?;
    }
    out.flush()
}
