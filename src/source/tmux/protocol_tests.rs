//! Tables for the control-mode protocol.

use super::*;
use crate::geometry::Size;

fn events(input: &[u8], step: usize) -> Vec<String> {
    let mut parser = Parser::default();
    let mut seen = Vec::new();
    for piece in input.chunks(step) {
        parser.feed(piece, |event| seen.push(show(&event)));
    }
    seen
}

fn show(event: &Event<'_>) -> String {
    match event {
        Event::Output { pane, data } => format!("output {pane} {}", data.escape_ascii()),
        Event::Reply(reply) => {
            format!("reply {} {} {} {}", reply.number, reply.flags, reply.ok, reply.body.escape_ascii())
        }
        Event::LayoutChange { window, layout } => {
            format!("layout {window} {}", layout.escape_ascii())
        }
        Event::Subscription { name, value } => {
            format!("sub {} {}", name.escape_ascii(), value.escape_ascii())
        }
        Event::Exit(reason) => format!("exit {}", reason.escape_ascii()),
        other => format!("{other:?}"),
    }
}

const STREAM: &[u8] = b"%begin 1 10 0\n%end 1 10 0\n%session-changed $3 a b\n%output %7 a\\015\\012\\134x\xff\xe4\n\
%extended-output %7 12 future : b : c\\033[m\n%begin 1 11 1\n%output %1 data\n%end 1 12 1\n%pause %4\n%end 1 11 1\n\
%begin 1 12 1\nno such thing\n%error 1 12 1\n%pause %7\n%continue %7\n%layout-change @2 aa,80x24,0,0,1 bb,80x23,0,0,1 *\n\
%window-close @1\n%unlinked-window-close @9\n%sessions-changed\n%pane-mode-changed %2\n%what ever\nplain\n\
%subscription-changed panes $0 - - - : %0 5 0;%1 6 1;\n%exit server exited\n";

#[test]
fn a_stream_gives_the_same_events_however_it_is_cut() {
    let expected = vec![
        "reply 10 0 true ",
        "SessionChanged(3)",
        "output 7 a\\r\\n\\\\x\\xff\\xe4",
        "output 7 b : c\\x1b[m",
        "reply 11 1 true %output %1 data\\n%end 1 12 1\\n%pause %4\\n",
        "reply 12 1 false no such thing\\n",
        "Pause(7)",
        "Continue(7)",
        "layout 2 bb,80x23,0,0,1",
        "TopologyChanged",
        "TopologyChanged",
        "TopologyChanged",
        "PaneModeChanged(2)",
        "sub panes %0 5 0;%1 6 1;",
        "exit server exited",
    ];
    for step in [1, 2, 3, 7, 64, STREAM.len()] {
        assert_eq!(events(STREAM, step), expected, "cut every {step} bytes");
    }
}

#[test]
fn a_row_that_looks_like_the_end_of_its_block_is_noticed() {
    let seen = events(b"%begin 5 6 1\nrow\n%end 5 6 1\nrest\n%end 5 6 1\n", 1000);
    assert_eq!(seen, ["reply 6 1 true row\\n", "Broken(\"an %end without its %begin\")"]);
}

#[test]
fn notices_inside_a_reply_are_found_and_nothing_else() {
    let reply = Reply { body: b"%pause %3\n%output %1 x\n%continue %4\n".to_vec(), ..Reply::default() };
    let notices: Vec<_> = reply.notices().collect();
    assert_eq!(notices, [Event::Pause(3), Event::Continue(4)]);
}

#[test]
fn malformed_lines_give_nothing_or_broken() {
    for line in
        ["%output", "%output 5 x", "%output %x y", "%extended-output %1 x", "%pause 5", "%layout-change @1", "%"]
    {
        assert_eq!(events(format!("{line}\n").as_bytes(), 1000), Vec::<String>::new(), "{line}");
    }
    assert_eq!(events(b"%begin 1 x 1\n", 100).len(), 1);
}

#[test]
fn an_overlong_line_is_dropped_and_told() {
    let mut parser = Parser::default();
    let mut seen = Vec::new();
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..20 {
        parser.feed(&piece, |event| seen.push(show(&event)));
    }
    parser.feed(b"\n%pause %1\n", |event| seen.push(show(&event)));
    assert_eq!(seen, ["Broken(\"a line longer than 16 MiB\")", "Pause(1)"]);
}

#[test]
fn octal_escapes() {
    for (text, bytes) in [
        (&b"abc"[..], &b"abc"[..]),
        (b"\\033[1m\\134", b"\x1b[1m\\"),
        (b"\\000\\377", b"\0\xff"),
        (b"\\\\x", b"\\x"),
        (b"\\0", b"\\0"),
        (b"\\", b"\\"),
        (b"\\400", b"\\400"),
    ] {
        let mut out = Vec::new();
        unescape(text, &mut out);
        assert_eq!(out, bytes, "{}", text.escape_ascii());
    }
}

#[test]
fn layouts() {
    let size = Size::new;
    for (layout, panes) in [
        (&b"b25d,80x24,0,0,1"[..], vec![(1, size(24, 80))]),
        (
            b"aaaa,80x24,0,0[80x12,0,0,1,80x11,0,13{40x11,0,13,2,39x11,41,13,30}]",
            vec![(1, size(12, 80)), (2, size(11, 40)), (30, size(11, 39))],
        ),
        (b"", vec![]),
        (b"x,y,z", vec![]),
    ] {
        assert_eq!(layout_panes(layout), panes, "{}", layout.escape_ascii());
    }
}

#[test]
fn reply_lines() {
    for (body, lines) in [(&b""[..], vec![]), (b"\n", vec![&b""[..]]), (b"a\n\nb\n", vec![b"a", b"", b"b"])] {
        let reply = Reply { body: body.to_vec(), ..Reply::default() };
        assert_eq!(reply.lines().collect::<Vec<_>>(), lines);
    }
}
