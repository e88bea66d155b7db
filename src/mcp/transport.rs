//! JSON-RPC over lines: one message a line in both directions.
//!
//! Beside rmcp's own transport it answers what cannot be read (a line that is no JSON, a bare `NaN`, an array, a line that is too
//! long) with a JSON-RPC error that carries the request's id where one can be told, so that no client waits for an answer
//! that never comes; and it raises [`Stop`] at the end of the input or when the output is closed.

use std::io;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

use super::stop::Stop;
use crate::panes::Panes;

/// The longest line that is taken, in bytes; a longer one is skipped without being kept.
const MAX_LINE: usize = 16 * 1024 * 1024;
/// A line buffer that grew beyond this is given back after the message.
const KEPT_LINE: usize = 64 * 1024;

/// The transport of one session.
pub(super) struct LineTransport<R, W> {
    input: BufReader<R>,
    output: Arc<Mutex<W>>,
    panes: Arc<Panes>,
    stop: Stop,
    /// What was read of the current line; `receive` may be dropped in the middle of one.
    line: Vec<u8>,
    /// The current line is too long: only its beginning is kept.
    skipping: bool,
    /// An answer that `receive` owes; it stays here until it is written.
    owed: Option<ErrorData>,
    owed_id: Option<RequestId>,
    /// A request was let through; before that a notification would end the session.
    opened: bool,
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(input: R, output: W, panes: Arc<Panes>, stop: Stop) -> Self {
        Self {
            input: BufReader::with_capacity(KEPT_LINE, input),
            output: Arc::new(Mutex::new(output)),
            panes,
            stop,
            line: Vec::new(),
            skipping: false,
            owed: None,
            owed_id: None,
            opened: false,
        }
    }

    /// Reads up to the end of a line into `self.line`; `false` at the end of the input. Safe to drop at any point.
    async fn read_line(&mut self) -> io::Result<bool> {
        loop {
            let available = self.input.fill_buf().await?;
            if available.is_empty() {
                return Ok(false);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            if !self.skipping {
                if self.line.len() + taken > MAX_LINE {
                    self.skipping = true;
                    self.line.truncate(KEPT_LINE);
                    self.line.shrink_to_fit();
                } else {
                    self.line.extend_from_slice(available.get(..taken).unwrap_or_default());
                }
            }
            self.input.consume(taken);
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    /// Takes the line that is complete; `None` if nothing came of it for the service.
    fn message(&mut self) -> Option<ClientJsonRpcMessage> {
        let line = std::mem::take(&mut self.line);
        let skipped = std::mem::take(&mut self.skipping);
        let parsed = if skipped {
            Err(Unreadable::new(
                ErrorData::invalid_request(format!("the line is longer than {MAX_LINE} bytes"), None),
                salvage_id(&line),
            ))
        } else {
            parse(&line)
        };
        if line.capacity() <= KEPT_LINE {
            self.line = line;
            self.line.clear();
        }
        match parsed {
            Ok(Some(message)) => self.admit(message),
            Ok(None) => None,
            Err(unreadable) => {
                tracing::debug!(code = unreadable.error.code.0, "unreadable line");
                self.owed = Some(unreadable.error);
                self.owed_id = unreadable.id;
                None
            }
        }
    }

    /// Lets a message through; a call carries the moment that it was read.
    fn admit(&mut self, mut message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        if let JsonRpcMessage::Request(request) = &mut message {
            self.opened = true;
            if let ClientRequest::CallToolRequest(call) = &mut request.request {
                let argument = |name: &str| call.params.arguments.as_ref()?.get(name)?.as_str();
                let moment = self.panes.moment(argument("pane_id"), argument("socket_name"));
                call.extensions.insert(moment);
            }
        }
        Some(message).filter(|_| self.opened)
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = Arc::clone(&self.output);
        let stop = self.stop.clone();
        async move {
            let written = write(&output, &message).await;
            if written.is_err() {
                // Nobody reads any more; rmcp itself would go on.
                stop.raise();
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(error) = self.owed.clone() {
                let answer = ServerJsonRpcMessage::error(error, self.owed_id.clone());
                let output = Arc::clone(&self.output);
                // Apart, so that a dropped `receive` never leaves half a line behind.
                tokio::spawn(async move { write(&output, &answer).await });
                self.owed = None;
                self.owed_id = None;
            }
            match self.read_line().await {
                Ok(true) => {
                    if let Some(message) = self.message() {
                        return Some(message);
                    }
                }
                Ok(false) => {
                    // The last line may lack its newline.
                    if let Some(message) = self.message() {
                        return Some(message);
                    }
                    break;
                }
                Err(error) => {
                    tracing::error!(%error, "the input cannot be read");
                    break;
                }
            }
        }
        self.stop.raise();
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.flush().await
    }
}

async fn write<W: AsyncWrite + Unpin>(output: &Mutex<W>, message: &ServerJsonRpcMessage) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}

struct Unreadable {
    error: ErrorData,
    id: Option<RequestId>,
}

impl Unreadable {
    fn new(error: ErrorData, id: Option<RequestId>) -> Self {
        Self { error, id }
    }
}

fn parse(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Unreadable> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    if let Ok(message) = serde_json::from_slice(line) {
        return Ok(Some(message));
    }
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        let place = format!("the line is no JSON (column {})", error.column());
        Unreadable::new(ErrorData::parse_error(place, None), salvage_id(line))
    })?;
    let Some(object) = value.as_object() else {
        let error = ErrorData::invalid_request("a message is an object; batches are not taken", None);
        return Err(Unreadable::new(error, None));
    };
    match object.get("id") {
        Some(id) => {
            let error = ErrorData::invalid_request("the message is no JSON-RPC 2.0 request", None);
            Err(Unreadable::new(error, request_id(id)))
        }
        // A notification that nobody knows is nothing to answer.
        None if object.contains_key("method") => Ok(None),
        None => {
            let error = ErrorData::invalid_request("the message has neither a method nor an id", None);
            Err(Unreadable::new(error, None))
        }
    }
}

fn request_id(value: &Value) -> Option<RequestId> {
    serde_json::from_value(value.clone()).ok()
}

/// Finds the `id` of a request in a line that is no JSON, or only the beginning of one.
///
/// It follows strings and nesting only, so that an `id` inside the parameters is not mistaken for it.
fn salvage_id(line: &[u8]) -> Option<RequestId> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = string_end(line, at)?;
                let rest = line.get(end..)?.trim_ascii_start();
                if depth == 1 && line.get(at..end) == Some(b"\"id\"") && rest.first() == Some(&b':') {
                    return scalar(rest.get(1..)?.trim_ascii_start());
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The index after the closing quote of the string that starts at `start`.
fn string_end(line: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match line.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

fn scalar(text: &[u8]) -> Option<RequestId> {
    let end = match text.first()? {
        b'"' => string_end(text, 0)?,
        _ => text.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'-').unwrap_or(text.len()),
    };
    serde_json::from_slice(text.get(..end)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> (i32, Option<String>) {
        let unreadable = parse(line.as_bytes()).err().unwrap();
        let id = unreadable.id.map(|id| serde_json::to_string(&id).unwrap());
        (unreadable.error.code.0, id)
    }

    #[test]
    fn what_cannot_be_read_is_answered_with_its_id_where_there_is_one() {
        let cases: &[(&str, i32, Option<&str>)] = &[
            ("hello", -32700, None),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"timeout\":NaN}}",
                -32700,
                Some("3"),
            ),
            ("{\"params\":{\"id\":9,\"t\":Infinity},\"id\":\"a\\\"b\",\"method\":\"x\"}", -32700, Some("\"a\\\"b\"")),
            ("{\"method\":\"x\",\"params\":{\"id\":1},\"t\":1e999}", -32700, None),
            ("[]", -32600, None),
            ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600, None),
            ("7", -32600, None),
            ("null", -32600, None),
            ("{}", -32600, None),
            ("{\"id\":5}", -32600, Some("5")),
            ("{\"jsonrpc\":\"1.0\",\"id\":6,\"method\":\"ping\"}", -32600, Some("6")),
        ];
        for (line, code, id) in cases {
            assert_eq!(refused(line), (*code, id.map(str::to_owned)), "{line}");
        }
    }

    #[test]
    fn nothing_is_said_about_what_needs_no_answer() {
        for line in ["", "  \r", "{\"jsonrpc\":\"2.0\",\"method\":7}"] {
            assert!(matches!(parse(line.as_bytes()), Ok(None)), "{line:?}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_overflow() {
        let line = "[".repeat(200_000);
        assert_eq!(refused(&line).0, -32700);
    }

    #[test]
    fn an_id_is_found_in_the_beginning_of_a_line() {
        let id = salvage_id(b"{\"jsonrpc\":\"2.0\",\"id\": 42,\"method\":\"tools/call\",\"params\":{\"x");
        assert_eq!(id, Some(RequestId::Number(42)));
        assert_eq!(salvage_id(b"\"id\":1"), None);
        assert_eq!(salvage_id(b"{\"id\":"), None);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_and_the_next_one_is_read() {
        let mut input = b"{\"id\":8,\"x\":\"".to_vec();
        input.resize(MAX_LINE + 5, b'x');
        input.extend_from_slice(b"\n{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}\n");
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let stop = Stop::new();
        let panes = Panes::new(crate::config::Config::default().settings());
        let mut transport = LineTransport::new(&input[..], ours, panes, stop.clone());
        let next = transport.receive().await.unwrap();
        assert!(matches!(next, JsonRpcMessage::Request(request) if request.id == RequestId::Number(9)));
        let mut answer = String::new();
        BufReader::new(theirs).read_line(&mut answer).await.unwrap();
        assert!(answer.contains("\"id\":8") && answer.contains("-32600"), "{answer}");
        assert!(!stop.is_raised());
        assert!(transport.receive().await.is_none());
        assert!(stop.is_raised());
    }
}
