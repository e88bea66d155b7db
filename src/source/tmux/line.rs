//! Command lines for tmux: built from arguments, never from text.

use crate::error::{Error, Result};

/// One or more tmux commands that run in one go, with nothing between them.
///
/// Arguments are kept apart, so that text from a caller can never become syntax; each is quoted when the line is
/// written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    commands: Vec<Vec<String>>,
}

impl Line {
    /// A line of one command.
    pub fn new<S: AsRef<str>>(args: &[S]) -> Self {
        Self::default().then(args)
    }

    /// Appends a command, run after the ones before unless one of them fails.
    pub fn then<S: AsRef<str>>(mut self, args: &[S]) -> Self {
        self.commands.push(args.iter().map(|arg| arg.as_ref().to_owned()).collect());
        self
    }

    /// The commands with their arguments.
    pub fn commands(&self) -> &[Vec<String>] {
        &self.commands
    }

    /// The line as a control client takes it, newline included.
    ///
    /// # Errors
    /// An argument holds a NUL, which no tmux command can carry.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        for (at, command) in self.commands.iter().enumerate() {
            if at > 0 {
                out.extend_from_slice(b" ; ");
            }
            for (at, arg) in command.iter().enumerate() {
                if at > 0 {
                    out.push(b' ');
                }
                quote(arg, &mut out)?;
            }
        }
        out.push(b'\n');
        Ok(out)
    }
}

/// Writes an argument so that tmux reads it back as it is.
///
/// Single quotes keep everything but themselves; control characters go as `\ooo` in double quotes, since a newline
/// would end the line.
fn quote(arg: &str, out: &mut Vec<u8>) -> Result<()> {
    if arg.contains('\0') {
        return Err(Error::BadArgument("an argument for tmux holds a NUL character".to_owned()));
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/' | b'.');
    if !arg.is_empty() && arg.bytes().all(plain) {
        out.extend_from_slice(arg.as_bytes());
        return Ok(());
    }
    out.push(b'\'');
    for byte in arg.bytes() {
        match byte {
            b'\'' => out.extend_from_slice(b"'\\''"),
            0..=0x1f | 0x7f => out.extend_from_slice(format!("'\"\\{byte:03o}\"'").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'\'');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting() {
        for (arg, text) in [
            ("capture-pane", "capture-pane"),
            ("%5", "'%5'"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("a;b #{pid} $HOME \"x\"", "'a;b #{pid} $HOME \"x\"'"),
            ("a\nb", "'a'\"\\012\"'b'"),
            ("héé", "'héé'"),
        ] {
            let line = Line::new(&[arg]).to_bytes().unwrap();
            assert_eq!(String::from_utf8(line).unwrap(), format!("{text}\n"));
        }
        assert!(Line::new(&["a\0b"]).to_bytes().is_err());
    }

    #[test]
    fn commands_are_joined_by_semicolons() {
        let line = Line::new(&["a", "b"]).then(&["c", ";"]);
        assert_eq!(line.to_bytes().unwrap(), b"a b ; c ';'\n");
    }
}
