//! A client of the built server over real pipes: starts it, talks JSON-RPC to it, and ends it when dropped.
//!
//! Requests are started with [`McpClient::begin`] and answered in any order; a reader thread hands each answer to the one who
//! waits for it. Every successful call is held against the promise that text and structured content say the same.

use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// No answer takes longer in a healthy run; it only bounds a test that fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why a call gave no result.
#[derive(Clone, Debug, PartialEq)]
pub enum CallError {
    /// A result with `isError`.
    Tool { kind: String, message: String, retryable: bool },
    /// A JSON-RPC error.
    Protocol { code: i64, message: String },
}

impl CallError {
    /// The kind of a failure, or `protocol`.
    pub fn kind(&self) -> &str {
        match self {
            Self::Tool { kind, .. } => kind,
            Self::Protocol { .. } => "protocol",
        }
    }

    /// The message of either.
    pub fn message(&self) -> &str {
        match self {
            Self::Tool { message, .. } | Self::Protocol { message, .. } => message,
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind(), self.message())
    }
}

#[derive(Default)]
struct Inbox {
    waiting: HashMap<String, Sender<(Instant, Value)>>,
    /// Notifications, and answers that carry no id anybody asked with.
    others: Vec<Value>,
    closed: bool,
}

#[derive(Default)]
struct Shared {
    inbox: Mutex<Inbox>,
    news: Condvar,
}

impl Shared {
    fn take(&self, message: Value) {
        let mut inbox = self.inbox.lock().unwrap();
        let asked = message
            .get("id")
            .filter(|_| message.get("method").is_none())
            .and_then(|id| inbox.waiting.remove(&id.to_string()));
        match asked {
            // The one who asked may have given up.
            Some(sender) => drop(sender.send((Instant::now(), message))),
            None => inbox.others.push(message),
        }
        self.news.notify_all();
    }

    fn close(&self) {
        let mut inbox = self.inbox.lock().unwrap();
        inbox.closed = true;
        inbox.waiting.clear();
        self.news.notify_all();
    }
}

/// How to start a server.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    args: Vec<String>,
    env: Vec<(String, String)>,
}

impl Launch {
    /// Adds an argument.
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Sets a variable.
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// The command, with an environment that reaches no tmux server but the test's own.
    pub fn command(&self, home: &std::path::Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_panemirror"));
        for (name, _) in std::env::vars_os() {
            let known = ["TMUX", "LIBTMUX_", "PANEMIRROR_"];
            if known.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        command.env("TMUX_TMPDIR", home).args(&self.args).envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Starts the server and initializes the session.
    pub fn start(&self) -> McpClient {
        let client = self.start_raw();
        client.initialize();
        client
    }

    /// Starts the server and says nothing to it.
    pub fn start_raw(&self) -> McpClient {
        let home = tempfile::Builder::new().prefix("pm").tempdir().unwrap();
        let mut child = self
            .command(home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let shared = Arc::new(Shared::default());
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let reader = Arc::clone(&shared);
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line)
                    .unwrap_or_else(|error| json!({ "not_json": line, "error": error.to_string() }));
                reader.take(message);
            }
            reader.close();
        });
        let log = Arc::new(Mutex::new(String::new()));
        let mut stderr = child.stderr.take().unwrap();
        let written = Arc::clone(&log);
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = stderr.read(&mut piece) {
                written.lock().unwrap().push_str(&String::from_utf8_lossy(&piece[..count]));
            }
        });
        McpClient {
            stdin: Mutex::new(child.stdin.take()),
            child: Mutex::new(child),
            shared,
            log,
            next_id: AtomicI64::new(1),
            _home: home,
        }
    }
}

/// A running server and the session with it. Shared by reference between threads; the server is killed on drop.
pub struct McpClient {
    child: Mutex<Child>,
    stdin: Mutex<Option<ChildStdin>>,
    shared: Arc<Shared>,
    log: Arc<Mutex<String>>,
    next_id: AtomicI64,
    _home: tempfile::TempDir,
}

impl McpClient {
    /// Starts a server with no arguments and initializes the session.
    pub fn start() -> Self {
        Launch::default().start()
    }

    /// Performs the handshake and returns the answer to `initialize`.
    pub fn initialize(&self) -> Value {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "tests", "version": "0" },
        });
        let answer = self.request("initialize", params).wait();
        self.notify("notifications/initialized", json!({}));
        answer["result"].clone()
    }

    /// Calls a tool and waits for its structured result.
    pub fn call(&self, tool: &str, arguments: Value) -> Result<Value, CallError> {
        self.begin(tool, arguments).result()
    }

    /// Starts a call of a tool.
    pub fn begin(&self, tool: &str, arguments: Value) -> Pending<'_> {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Starts a call of a tool that reports progress under `token`.
    pub fn begin_with_progress(&self, tool: &str, arguments: Value, token: &str) -> Pending<'_> {
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": token } });
        self.request("tools/call", params)
    }

    /// Starts any request.
    pub fn request(&self, method: &str, params: Value) -> Pending<'_> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let pending = self.expect(json!(id));
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        pending
    }

    /// Gets ready for an answer to a request that is sent by hand with `id`.
    pub fn expect(&self, id: Value) -> Pending<'_> {
        let (sender, receiver) = channel();
        let mut inbox = self.shared.inbox.lock().unwrap();
        if !inbox.closed {
            inbox.waiting.insert(id.to_string(), sender);
        }
        Pending { client: self, id, sent: Instant::now(), receiver }
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a message.
    pub fn send(&self, message: &Value) {
        self.send_line(message.to_string().as_bytes());
    }

    /// Sends bytes and a newline, whatever they are. A server that is gone is noticed by whoever waits.
    pub fn send_line(&self, line: &[u8]) {
        if let Some(stdin) = self.stdin.lock().unwrap().as_mut() {
            let _ = stdin.write_all(&[line, b"\n"].concat()).and_then(|()| stdin.flush());
        }
    }

    /// Every notification so far, and every answer that nobody waited for.
    pub fn others(&self) -> Vec<Value> {
        self.shared.inbox.lock().unwrap().others.clone()
    }

    /// Waits until `count` messages came that nobody asked for (notifications, errors without an id).
    pub fn wait_for_others(&self, count: usize) -> Vec<Value> {
        let deadline = Instant::now() + PATIENCE;
        let mut inbox = self.shared.inbox.lock().unwrap();
        while inbox.others.len() < count {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!inbox.closed && !left.is_zero(), "not {count} messages: {:?}", inbox.others);
            inbox = self.shared.news.wait_timeout(inbox, left).unwrap().0;
        }
        inbox.others.clone()
    }

    /// Proves that the server still answers.
    pub fn ping(&self) {
        let answer = self.request("ping", json!({})).wait();
        assert_eq!(answer["result"], json!({}), "{answer}");
    }

    /// The definition of every tool.
    pub fn tools(&self) -> Vec<Value> {
        let answer = self.request("tools/list", json!({})).wait();
        answer["result"]["tools"].as_array().unwrap().clone()
    }

    /// Ends the input of the server.
    pub fn close_input(&self) {
        drop(self.stdin.lock().unwrap().take());
    }

    /// The process id of the server.
    pub fn pid(&self) -> u32 {
        self.child.lock().unwrap().id()
    }

    /// Sends a signal to the server, by name.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.pid().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits until the server has ended; panics if it does not within `limit`.
    pub fn exit_within(&self, limit: Duration) -> ExitStatus {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(status) = self.child.lock().unwrap().try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "still running after {limit:?}; {}", self.log());
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// What the server wrote to stderr so far.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        self.close_input();
        let mut child = self.child.lock().unwrap();
        let deadline = Instant::now() + Duration::from_secs(2);
        while Instant::now() < deadline {
            if let Ok(Some(_)) = child.try_wait() {
                return;
            }
            thread::sleep(Duration::from_millis(2));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// A request that is under way.
pub struct Pending<'a> {
    client: &'a McpClient,
    id: Value,
    sent: Instant,
    receiver: Receiver<(Instant, Value)>,
}

impl Pending<'_> {
    /// Waits for the whole answer.
    pub fn wait(self) -> Value {
        self.timed().1
    }

    /// Waits for the whole answer, and tells how long it took from the sending to the reading.
    pub fn timed(self) -> (Duration, Value) {
        match self.receiver.recv_timeout(PATIENCE) {
            Ok((read, answer)) => (read - self.sent, answer),
            Err(error) => panic!("no answer to {} ({error}); stderr: {}", self.id, self.client.log()),
        }
    }

    /// Tells whether an answer comes within `limit`.
    pub fn is_answered_within(&self, limit: Duration) -> bool {
        match self.receiver.recv_timeout(limit) {
            Ok(_) => true,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => false,
        }
    }

    /// Waits for the result of a call: its structured content, or why there is none.
    pub fn result(self) -> Result<Value, CallError> {
        read(&self.wait())
    }

    /// Withdraws the request.
    pub fn cancel(&self) {
        self.client.notify("notifications/cancelled", json!({ "requestId": self.id }));
    }
}

/// Reads the answer to a call, and holds it against what every answer promises.
pub fn read(answer: &Value) -> Result<Value, CallError> {
    if let Some(error) = answer.get("error") {
        return Err(CallError::Protocol {
            code: error["code"].as_i64().unwrap(),
            message: error["message"].as_str().unwrap().to_owned(),
        });
    }
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"));
    let said: Value = serde_json::from_str(text).unwrap();
    if result["isError"] == true {
        assert!(result.get("structuredContent").is_none(), "{answer}");
        assert_eq!(said.as_object().unwrap().len(), 3, "{said}");
        return Err(CallError::Tool {
            kind: said["kind"].as_str().unwrap().to_owned(),
            message: said["message"].as_str().unwrap().to_owned(),
            retryable: said["retryable"].as_bool().unwrap(),
        });
    }
    assert_eq!(said, result["structuredContent"], "text and structured content differ");
    Ok(said)
}
