//! Every test has a tmux server of its own. Limits are the ones promised, with room for a loaded machine where nothing
//! is promised.

use std::sync::Arc;
use std::time::{Duration, Instant};

use panemirror::pane::{Ended, Pane};
use panemirror::source::tmux::{Server, Settings, Socket, TmuxPlace, TmuxSpawn, start_server};

use crate::support::{ScriptedPane, TmuxServer, eventually};

const SOON: Duration = Duration::from_secs(5);

async fn open(server: &Arc<Server>, pane: u32) -> Arc<Pane> {
    let snapshot = server.snapshot(pane).await.unwrap();
    server.open(pane, snapshot).await.unwrap().0
}

fn shows(pane: &Pane, text: &str) -> bool {
    pane.with_mirror(|mirror| mirror.visible_rows().iter().any(|row| row.contains(text)))
}

async fn mirrored() -> (TmuxServer, Arc<Server>, ScriptedPane, Arc<Pane>) {
    let tmux = TmuxServer::start();
    let scripted = tmux.scripted("main");
    let server = Server::connect(&tmux.settings()).await.unwrap();
    let pane = open(&server, scripted.number).await;
    (tmux, server, scripted, pane)
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_and_snapshots() {
    let tmux = TmuxServer::start();
    tmux.tmux(&["new-session", "-d", "-s", "it's; %1 \"#", "-x", "80", "-y", "24", "cat"]);
    let mut scripted = tmux.scripted("main");
    scripted.write("hello\r\n");
    let server = Server::connect(&tmux.settings()).await.unwrap();
    assert_eq!(server.id().pid, tmux.pid());
    assert_eq!(server.version(), tmux.format("main:", "#{version}"));
    let rows = server.list().await.unwrap();
    assert_eq!(rows.len(), 3);
    let row = rows.iter().find(|row| row.pane == scripted.number).unwrap();
    assert_eq!((row.session_name.as_str(), row.command.as_str(), row.dead), ("main", "cat", false));
    assert_eq!((row.size.cols, row.size.rows), (80, 24));
    assert!(rows.iter().any(|row| row.session_name == "it's; %1 \"#"));
    // A pane of any session, over a client of another.
    let snapshot = server.snapshot(scripted.number).await.unwrap();
    assert_eq!((snapshot.rows.len(), snapshot.rows[0].as_str()), (24, "hello"));
    assert_eq!(server.snapshot(99).await.unwrap_err().kind(), "no_such_pane");
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn says_why_there_is_no_server() {
    let socket = Socket::Path("/tmp/pm-no-such-socket".into());
    let settings = Settings { socket, ..Settings::default() };
    assert_eq!(Server::connect(&settings).await.err().unwrap().kind(), "no_server");
    let settings = Settings { program: "/no/such/tmux".into(), ..Settings::default() };
    assert_eq!(Server::connect(&settings).await.err().unwrap().kind(), "no_tmux");
}

#[tokio::test(flavor = "multi_thread")]
async fn output_reaches_the_mirror() {
    let (_tmux, server, mut scripted, pane) = mirrored().await;
    scripted.write("grün \x1b[1mbold\x1b[m\r\n");
    eventually("the output", SOON, || shows(&pane, "grün")).await;
    assert!(server.confirm(&pane).await.is_ok());
    assert!(Arc::ptr_eq(&pane, &open(&server, scripted.number).await));
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn leaves_the_server_as_it_was() {
    let tmux = TmuxServer::start();
    tmux.tmux(&["set-environment", "-t", "main", "SSH_AUTH_SOCK", "/tmp/agent"]);
    tmux.tmux(&["set-environment", "-t", "main", "DISPLAY", ":7"]);
    tmux.tmux(&["set-buffer", "kept"]);
    let mut scripted = tmux.scripted("main");
    let before = tmux.state();
    let server = Server::connect(&tmux.settings()).await.unwrap();
    let pane = open(&server, scripted.number).await;
    scripted.write("seen\r\n");
    eventually("the output", SOON, || shows(&pane, "seen")).await;
    server.confirm(&pane).await.unwrap();
    let start = Instant::now();
    server.shutdown().await;
    assert!(start.elapsed() < Duration::from_millis(1000), "{:?}", start.elapsed());
    let children = std::process::Command::new("ps")
        .args(["-o", "stat=,args=", "--ppid", &std::process::id().to_string()])
        .output()
        .unwrap();
    let children = String::from_utf8_lossy(&children.stdout).into_owned();
    let ours = tmux.socket().display().to_string();
    assert!(!children.contains(&ours), "left behind: {children}");
    assert_eq!(before, tmux.state());
}

#[tokio::test(flavor = "multi_thread")]
async fn openers_at_the_same_time_share_a_mirror() {
    let tmux = TmuxServer::start();
    let scripted = tmux.scripted("main");
    let server = Server::connect(&tmux.settings()).await.unwrap();
    let opening: Vec<_> = (0..16)
        .map(|_| {
            let server = Arc::clone(&server);
            tokio::spawn(async move { open(&server, scripted.number).await })
        })
        .collect();
    let mut panes = Vec::new();
    for opened in opening {
        panes.push(opened.await.unwrap());
    }
    assert!(panes.iter().all(|pane| Arc::ptr_eq(pane, &panes[0])));
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_pane_ends_within_100_ms() {
    let (tmux, server, scripted, pane) = mirrored().await;
    // Beside another pane: only the layout tells.
    let split = tmux.scripted_by(&["split-window", "-d", "-P", "-F", "#{pane_id}", "-t", &scripted.id()]);
    let beside = open(&server, split.number).await;
    tmux.tmux(&["kill-pane", "-t", &split.id()]);
    eventually("the end", Duration::from_millis(1000), || beside.ended() == Some(Ended::Killed)).await;
    assert!(pane.ended().is_none());
    // The last one of its window.
    server.kill_pane(scripted.number).await.unwrap();
    eventually("the end", Duration::from_millis(1000), || pane.ended() == Some(Ended::Killed)).await;
    assert_eq!(server.snapshot(scripted.number).await.unwrap_err().kind(), "no_such_pane");
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_server_ends_its_panes_within_100_ms() {
    for signal in ["TERM", "KILL"] {
        let (tmux, server, _scripted, pane) = mirrored().await;
        tmux.signal(signal);
        let limit = Duration::from_millis(1000);
        eventually("the end", limit, || pane.ended() == Some(Ended::ServerGone)).await;
        assert!(!server.is_alive());
        assert!(server.list().await.is_err());
        server.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_respawned_pane_is_told_apart() {
    let (tmux, server, scripted, pane) = mirrored().await;
    tmux.tmux(&["respawn-pane", "-k", "-t", &scripted.id(), "cat"]);
    assert_eq!(server.confirm(&pane).await.unwrap_err().kind(), "pane_respawned");
    let pane = open(&server, scripted.number).await;
    tmux.tmux(&["respawn-pane", "-k", "-t", &scripted.id(), "cat"]);
    let limit = Duration::from_secs(15);
    eventually("the end", limit, || pane.ended() == Some(Ended::Respawned)).await;
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_pane_that_is_kept_ends_with_its_status() {
    let (tmux, server, _scripted, _) = mirrored().await;
    let id = tmux.tmux(&["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "main:", "sleep 0.3; echo last; exit 3"]);
    tmux.tmux(&["set-option", "-p", "-t", &id, "remain-on-exit", "on"]);
    let number = id.trim_start_matches('%').parse().unwrap();
    let pane = open(&server, number).await;
    // Ten times the 1.5 s that are promised, and the sleep. tmux does not always know the status.
    eventually("the end", Duration::from_secs(16), || pane.ended().is_some()).await;
    let status = tmux.format(&id, "#{pane_dead_status}").parse().ok();
    assert_eq!(pane.ended(), Some(Ended::Exited(status)));
    assert!(shows(&pane, "last") && !shows(&pane, "Pane is dead"));
    // Its screen can still be had.
    let again = open(&server, number).await;
    assert!(again.ended().is_some());
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pane_is_followed_to_another_session() {
    let (tmux, server, mut scripted, pane) = mirrored().await;
    tmux.tmux(&["new-session", "-d", "-s", "other", "-x", "80", "-y", "24", "cat"]);
    tmux.tmux(&["move-window", "-s", &scripted.id(), "-t", "other:"]);
    scripted.write("moved\r\n");
    eventually("the output after the move", SOON, || shows(&pane, "moved")).await;
    tmux.tmux(&["break-pane", "-d", "-s", &scripted.id(), "-t", "main:"]);
    scripted.write("broken\r\n");
    eventually("the output after the break", SOON, || shows(&pane, "broken")).await;
    assert!(pane.ended().is_none());
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_linked_window_outlives_its_first_session() {
    let (tmux, server, mut scripted, pane) = mirrored().await;
    tmux.tmux(&["new-session", "-d", "-s", "other", "-x", "80", "-y", "24", "cat"]);
    tmux.tmux(&["link-window", "-s", &scripted.id(), "-t", "other:"]);
    tmux.tmux(&["set-option", "-g", "detach-on-destroy", "off"]);
    tmux.tmux(&["kill-session", "-t", "main"]);
    scripted.write("alive\r\n");
    eventually("the output after the end of the session", SOON, || shows(&pane, "alive")).await;
    assert!(pane.ended().is_none());
    server.shutdown().await;
    assert_eq!(tmux.tmux(&["list-clients"]), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fleeting_session_is_left_alone() {
    let tmux = TmuxServer::start();
    let server = Server::connect(&tmux.settings()).await.unwrap();
    // tmux ends such a session when any client leaves, be it `tmux ls`; so it is made by a client that stays.
    let mut client = tmux.control("main");
    client.run("new-session -d -s fleeting cat ; set-option -t fleeting destroy-unattached on");
    let rows = server.list().await.unwrap();
    let fleeting = rows.iter().find(|row| row.session_name == "fleeting").unwrap().pane;
    // It can be captured over the other session's client, but not followed.
    let snapshot = server.snapshot(fleeting).await.unwrap();
    let error = server.open(fleeting, snapshot).await.err().unwrap();
    assert_eq!(error.kind(), "refused");
    assert!(error.message().contains("destroy-unattached off"), "{error}");
    assert!(client.run("has-session -t fleeting"));
    assert!(server.list().await.unwrap().iter().any(|row| row.session_name == "fleeting"));
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_server_hangs_nothing() {
    let (tmux, server, _scripted, pane) = mirrored().await;
    tmux.signal("STOP");
    let start = Instant::now();
    assert_eq!(server.confirm(&pane).await.unwrap_err().kind(), "server_lost");
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    let start = Instant::now();
    server.shutdown().await;
    assert!(start.elapsed() < Duration::from_millis(150), "{:?}", start.elapsed());
    tmux.signal("CONT");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_stopped_goes_on() {
    let (tmux, server, mut scripted, pane) = mirrored().await;
    tmux.signal("STOP");
    assert!(server.list().await.is_err());
    tmux.signal("CONT");
    scripted.write("again\r\n");
    eventually("the output", SOON, || shows(&pane, "again")).await;
    assert!(server.confirm(&pane).await.is_ok());
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resize_is_followed() {
    let (tmux, server, scripted, pane) = mirrored().await;
    let size = |pane: &Pane| pane.with_mirror(|mirror| mirror.screen().size().to_string());
    tmux.tmux(&["resize-window", "-t", &scripted.id(), "-x", "60", "-y", "15"]);
    eventually("the size", SOON, || size(&pane) == "15x60").await;
    // A status line on the border takes a row that the layout still counts.
    tmux.tmux(&["set-option", "-w", "-t", &scripted.id(), "pane-border-status", "top"]);
    eventually("the size", SOON, || size(&pane) == tmux.format(&scripted.id(), "#{pane_height}x#{pane_width}")).await;
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn argv_and_keys_arrive_as_they_are() {
    let tmux = TmuxServer::start();
    let server = Server::connect(&tmux.settings()).await.unwrap();
    let hard = "a\n'b'\t\"c\" $HOME #{pid} ; \\ %1";
    let mut spawn = TmuxSpawn {
        place: TmuxPlace::Session { name: Some("new one".into()) },
        command: vec![
            "sh".into(),
            "-c".into(),
            "printf '%s\\n' \"$1\" \"$V\"; exec cat".into(),
            "x".into(),
            hard.into(),
        ],
        directory: Some("/tmp".into()),
        environment: vec![("V".into(), "v;w".into())],
        size: None,
    };
    let made = server.new_pane(&spawn).await.unwrap();
    assert_eq!((made.session_name.as_str(), made.size.to_string()), ("new one", "24x80".to_owned()));
    spawn.place = TmuxPlace::Window { session: made.session };
    let window = server.new_pane(&spawn).await.unwrap();
    assert_eq!((window.session, window.is_current_window), (made.session, false));
    spawn.place = TmuxPlace::Split { pane: made.pane, beside: true };
    let split = server.new_pane(&spawn).await.unwrap();
    assert_eq!(split.window, made.window);
    for pane in [made.pane, window.pane] {
        let shown = || tmux.tmux(&["capture-pane", "-p", "-J", "-t", &format!("%{pane}")]).replace("     ", "\t");
        eventually("the arguments", SOON, || shown().starts_with(&format!("{hard}\nv;w"))).await;
    }
    let typed = "grün;a 'b' \"c\" $HOME #{pid} ; \\ %1";
    server.send(window.pane, format!("{typed}\r").as_bytes()).await.unwrap();
    let shown = || tmux.tmux(&["capture-pane", "-p", "-J", "-t", &format!("%{}", window.pane)]);
    eventually("the echo", SOON, || shown().contains(typed)).await;
    tmux.tmux(&["copy-mode", "-t", &format!("%{}", window.pane)]);
    assert_eq!(server.send(window.pane, b"q").await.unwrap_err().kind(), "refused");
    assert_eq!(server.send(999, b"q").await.unwrap_err().kind(), "no_such_pane");
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn starts_a_server_when_asked() {
    let directory = tempfile::Builder::new().prefix("pm").tempdir_in("/tmp").unwrap();
    let settings = Settings {
        program: crate::support::tmux_program(),
        socket: Socket::Path(directory.path().join("s")),
        config: Some("/dev/null".into()),
        ..Settings::default()
    };
    let spawn = TmuxSpawn {
        place: TmuxPlace::Session { name: None },
        command: vec!["cat".into()],
        directory: None,
        environment: Vec::new(),
        size: None,
    };
    let pane = start_server(&settings, &spawn).await.unwrap();
    let server = Server::connect(&settings).await.unwrap();
    assert!(server.list().await.unwrap().iter().any(|row| row.pane == pane));
    server.kill_pane(pane).await.unwrap();
    eventually("the end of the server", SOON, || !server.is_alive()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn history_comes_in_pages() {
    let (_tmux, server, mut scripted, pane) = mirrored().await;
    let text: String = (0..100).map(|n| format!("line {n}\r\n")).collect();
    scripted.write(text);
    eventually("the output", SOON, || shows(&pane, "line 99")).await;
    // 24 rows of screen, the last of them empty: the newest row of history is line 76.
    let page = server.history_page(scripted.number, -3, -1).await.unwrap();
    assert_eq!(page, ["line 74", "line 75", "line 76"]);
    assert_eq!(server.history_page(scripted.number, -300, -200).await.unwrap(), Vec::<String>::new());
    assert_eq!(server.history_page(scripted.number, -3000, -1).await.unwrap_err().kind(), "bad_argument");
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_keep_their_panes_apart() {
    let (_one, first, mut left, here) = mirrored().await;
    let (_two, second, _right, there) = mirrored().await;
    assert_eq!(here.id().to_string(), there.id().to_string());
    assert_ne!(here.id(), there.id());
    left.write("left\r\n");
    eventually("the output", SOON, || shows(&here, "left")).await;
    second.confirm(&there).await.unwrap();
    assert!(!shows(&there, "left"));
    first.shutdown().await;
    second.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_server_on_the_socket_is_not_ours() {
    let (tmux, server, _scripted, pane) = mirrored().await;
    tmux.signal("KILL");
    eventually("the end", SOON, || pane.ended() == Some(Ended::ServerGone)).await;
    let next = tmux.restart();
    assert!(server.list().await.is_err() && server.confirm(&pane).await.is_err());
    let again = Server::connect(&next.settings()).await.unwrap();
    assert_ne!(again.id(), server.id());
    again.shutdown().await;
}

/// Rows as tmux shows them.
fn screen(tmux: &TmuxServer, id: &str) -> Vec<String> {
    let text = tmux.tmux(&["capture-pane", "-p", "-t", id, ";", "display-message", "-p", "end"]);
    let mut rows: Vec<String> = text.split('\n').map(str::to_owned).collect();
    rows.pop();
    rows
}

#[tokio::test(flavor = "multi_thread")]
async fn an_opening_amid_a_flood_is_exact() {
    let tmux = TmuxServer::start();
    let flood = |lines: u32| {
        let program = format!("seq 1 {lines}; printf 'end\\n'; exec cat");
        let id = tmux.tmux(&["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "main:", &program]);
        id.trim_start_matches('%').parse::<u32>().unwrap()
    };
    let server = Server::connect(&tmux.settings()).await.unwrap();
    let beside = open(&server, flood(10_000_000)).await;
    for _ in 0..10 {
        let number = flood(100_000);
        let pane = open(&server, number).await;
        eventually("the end of the flood", 4 * SOON, || shows(&pane, "end")).await;
        let rows: Vec<String> = pane.with_mirror(|mirror| mirror.visible_rows());
        let rows: Vec<&str> = rows.iter().map(|row| row.trim_end()).collect();
        assert_eq!(rows, screen(&tmux, &format!("%{number}")));
        assert_eq!(pane.with_mirror(|mirror| mirror.drift()), 0);
    }
    assert!(beside.ended().is_none());
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_without_output_is_found_and_counted() {
    let (tmux, server, mut scripted, pane) = mirrored().await;
    scripted.write("stale\r\n");
    eventually("the output", SOON, || shows(&pane, "stale")).await;
    tmux.tmux(&["send-keys", "-R", "-t", &scripted.id()]);
    eventually("the repair", 2 * SOON, || !shows(&pane, "stale")).await;
    assert_eq!(pane.with_mirror(|mirror| mirror.drift()), 1);
    server.shutdown().await;
}
