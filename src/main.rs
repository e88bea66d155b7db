//! The panemirror command.

use std::process::ExitCode;

use panemirror::geometry::Size;
use panemirror::replay::{ResizeAt, replay, to_json};
use panemirror::term::{Options, Profile};

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("panemirror: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(mut args: impl Iterator<Item = String>) -> Result<(), String> {
    if args.next().as_deref() != Some("replay") {
        return Err("usage: panemirror replay --rows R --cols C [--resize OFFSET:ROWSxCOLS]... FILE".to_owned());
    }
    let (mut rows, mut cols, mut resizes, mut file) = (24, 80, Vec::<ResizeAt>::new(), None);
    let mut options = Options::default();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--rows" => rows = value()?.parse().map_err(|_| "--rows is not a number".to_owned())?,
            "--cols" => cols = value()?.parse().map_err(|_| "--cols is not a number".to_owned())?,
            "--resize" => resizes.push(value()?.parse()?),
            "--tmux" => options.profile = Profile::for_version(&value()?),
            _ => file = Some(arg),
        }
    }
    let file = file.ok_or("no file given")?;
    let mut input = std::fs::File::open(&file).map_err(|e| format!("{file}: {e}"))?;
    let terminal = replay(&mut input, Size::new(rows, cols), &resizes, options).map_err(|e| format!("{file}: {e}"))?;
    println!("{}", to_json(terminal.screen()));
    Ok(())
}
