//! Bytes per second through the emulator: four kinds of input, in bulk and in pieces of 32 bytes.
//!
//! The inputs are made here, outside the timed region; each is fed to one terminal again and again.

use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use panemirror::geometry::Size;
use panemirror::mirror::{LineText, Mark, Mirror};
use panemirror::term::{Observer, Options, Screen, Stamp, Terminal};
use panemirror::wait::{Pattern, TextWatch, TextWatcher};

const BYTES: usize = 1 << 20;

fn fill(mut line: impl FnMut(usize, &mut String)) -> Vec<u8> {
    let mut text = String::new();
    for i in 0.. {
        line(i, &mut text);
        if text.len() >= BYTES {
            break;
        }
    }
    text.into_bytes()
}

/// A build log without colours: lines of 20 to 100 characters.
fn plain() -> Vec<u8> {
    let words = "the quick brown fox jumps over the lazy dog while compiling src/module/file.rs and linking target ";
    fill(|i, out| {
        out.push_str(&words[..20 + i * 37 % 78]);
        out.push_str("\r\n");
    })
}

/// The same with a few colours on each line, as compilers print it.
fn coloured() -> Vec<u8> {
    fill(|i, out| {
        out.push_str(&format!(
            "\x1b[1;32m   Compiling\x1b[0m crate-{i} v0.{}.{} \x1b[2m(/home/user/src/crate-{i})\x1b[0m \x1b[38;5;{}mok\x1b[m\r\n",
            i % 50,
            i % 9,
            i % 256
        ));
    })
}

/// A full-screen program that repaints: cursor addressing, colours, erasing, short texts.
fn tui() -> Vec<u8> {
    fill(|i, out| {
        let row = i % 24 + 1;
        out.push_str(&format!(
            "\x1b[{row};1H\x1b[7m{:>5} \x1b[m user{:<4}\x1b[{row};20H\x1b[32m{:>4}.{}%\x1b[39m\x1b[{row};32H\x1b[1mprocess-name-{}\x1b[22m\x1b[K",
            i * 7919 % 65536,
            i % 10,
            i * 31 % 100,
            i % 10,
            i % 1000
        ));
    })
}

/// Chinese prose with some ASCII.
fn cjk() -> Vec<u8> {
    let prose: Vec<char> =
        "漢字仮名交じり文は日本語の文章を書き表すのに使われる最も一般的な表記法である".chars().collect();
    fill(|i, out| {
        out.extend(
            (0..30 + i % 11).map(|k| prose.iter().cycle().nth(i * 7 % prose.len() + k).copied().unwrap_or('。')),
        );
        out.push_str("\r\n");
    })
}

/// Looks at nothing, but must be asked.
struct Idle;

impl Observer for Idle {
    const ACTIVE: bool = true;

    fn before_change(&mut self, _screen: &Screen, rows: Range<usize>) {
        black_box(rows);
    }
}

fn feed(c: &mut Criterion) {
    for (name, input) in [("plain", plain()), ("coloured", coloured()), ("tui", tui()), ("cjk", cjk())] {
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Bytes(input.len() as u64));
        let new = |retention| Terminal::new(Size { rows: 24, cols: 80 }, Options { retention, ..Options::default() });
        let mut terminal = new(0);
        group.bench_function("bulk", |b| b.iter(|| terminal.feed(black_box(&input), Duration::ZERO, &mut ())));
        let mut terminal = new(50_000);
        group.bench_function("bulk, 50,000 rows retained", |b| {
            b.iter(|| terminal.feed(black_box(&input), Duration::ZERO, &mut ()));
        });
        let mut terminal = new(0);
        group.bench_function("observed", |b| b.iter(|| terminal.feed(black_box(&input), Duration::ZERO, &mut Idle)));
        let mut terminal = new(0);
        group.bench_function("pieces", |b| {
            b.iter(|| {
                for piece in black_box(&input).chunks(32) {
                    terminal.feed(piece, Duration::ZERO, &mut ());
                }
            });
        });
        group.finish();
    }
}

/// Deliveries of 64 KiB to a mirror with waits that never match.
fn armed(c: &mut Criterion) {
    for (name, input) in [("plain", plain()), ("coloured", coloured()), ("tui", tui()), ("cjk", cjk())] {
        let mut group = c.benchmark_group(format!("{name}, armed"));
        group.throughput(Throughput::Bytes(input.len() as u64));
        for waits in [0, 1, 10, 50] {
            let terminal = Terminal::new(Size { rows: 24, cols: 80 }, Options::default());
            let mut mirror = Mirror::new(terminal);
            let mark = mirror.mark();
            for wait in 0..waits {
                let pattern = format!("never printed {wait}");
                let Ok(watch) = TextWatch::compile(Some(&[pattern]), &[], false, true) else { return };
                mirror.watch(Box::new(TextWatcher::new(Arc::new(watch), mark, |_| ())));
            }
            group.bench_function(format!("{waits} waits"), |b| {
                b.iter(|| {
                    for delivery in black_box(&input).chunks(64 * 1024) {
                        mirror.apply(delivery, Duration::ZERO);
                    }
                });
            });
        }
        group.finish();
    }
}

/// One examination of a line of 64 KiB that a pattern matches in its old part only.
fn hostile(c: &mut Criterion) {
    let mut group = c.benchmark_group("one examination of 64 KiB");
    group.sample_size(10);
    let patterns =
        ["b", "(a+)+$", "(a+)+b", ".*b", "(a|aa)+b|b", "[a-z]{100}b", r"\bb\b", "b(a{1,200}c)?|a{50}b", "b|b[^c]*bc"];
    for pattern in patterns {
        let text = "a".repeat(32 * 1024) + "b" + &"a".repeat(32 * 1024);
        // The first character of what comes last is new.
        for (new, old) in [("-", ""), ("é", ""), ("-", " b")] {
            let ends = [text.len(), text.len() + new.len(), text.len() + new.len() + old.len()];
            let mut stamps = vec![(ends[0], Stamp(1)), (ends[1], Stamp(9))];
            if !old.is_empty() {
                stamps.push((ends[2], Stamp(1)));
            }
            let line = LineText { text: format!("{text}{new}{old}"), stamps };
            let Ok(compiled) = Pattern::compile(pattern, true, true) else { return };
            group.bench_function(format!("{pattern} before {new}{old}"), |b| {
                b.iter(|| compiled.hits(black_box(&line), Mark::from_number(9)));
            });
        }
    }
    group.finish();
}

/// Single steps that must not hold up a pane: a resize and the clearing of a long history.
fn pauses(c: &mut Criterion) {
    let rows = 50_000;
    let options = Options { history_limit: rows, retention: rows, ..Options::default() };
    let mut terminal = Terminal::new(Size { rows: 24, cols: 80 }, options);
    let input = plain();
    while terminal.screen().pushed() < rows as u64 + 10_000 {
        terminal.feed(&input, Duration::ZERO, &mut ());
    }
    let mut group = c.benchmark_group("pauses");
    group.sample_size(10);
    group.bench_function("resize with 50,000 rows, narrower and back", |b| {
        b.iter(|| {
            terminal.resize(Size { rows: 24, cols: 60 }, &mut ());
            terminal.resize(Size { rows: 24, cols: 80 }, &mut ());
        });
    });
    for (name, sequence) in [("CSI 65535 @", "\x1b[H\x1b[65535@"), ("RIS", "\x1bc"), ("CSI 65535 S", "\x1b[65535S")] {
        group.bench_function(name, |b| b.iter(|| terminal.feed(sequence.as_bytes(), Duration::ZERO, &mut ())));
    }
    group.bench_function("ED 3 on 50,000 rows", |b| {
        b.iter_batched(
            || {
                let mut terminal =
                    Terminal::new(Size { rows: 24, cols: 80 }, Options { history_limit: rows, ..Options::default() });
                while terminal.screen().history() < 45_000 {
                    terminal.feed(&input, Duration::ZERO, &mut ());
                }
                terminal
            },
            |mut terminal| {
                terminal.feed(b"\x1b[3J", Duration::ZERO, &mut ());
                terminal // dropped outside the timed region
            },
            criterion::BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, feed, armed, hostile, pauses);
criterion_main!(benches);
