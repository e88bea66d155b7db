//! Whether a pane's process is still the one it was, seen without asking tmux.
//!
//! tmux closes the old pseudo-terminal before it starts another program in a pane, and the kernel takes the terminal away
//! from the old session at that moment. So as long as the process that was there has the terminal that it had, the pane was
//! not respawned. Linux tells in `/proc`; elsewhere, and for a process that cannot be seen from here, tmux is asked.

/// A process with its controlling terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Alive {
    process: u32,
    /// The process that started it: the tmux server, or the number means another process here than there.
    parent: u32,
    /// When it started, in clock ticks since boot: tells it from a later process of the same number.
    start: u64,
    /// Device number of the terminal.
    terminal: u32,
}

impl Alive {
    /// The process, if it can be seen, is a child of the server, runs, and has a terminal.
    pub(super) fn of(process: u32, server: u32) -> Option<Self> {
        let stat = std::fs::read(format!("/proc/{process}/stat")).ok()?;
        Self::read(process, &String::from_utf8_lossy(&stat)).filter(|alive| alive.parent == server)
    }

    /// Tells whether it is still the same process with the same terminal.
    pub(super) fn still(self) -> bool {
        Self::of(self.process, self.parent) == Some(self)
    }

    /// Reads `/proc/PID/stat` (proc_pid_stat(5)): the fields behind the name, which may hold anything.
    fn read(process: u32, stat: &str) -> Option<Self> {
        let (_, fields) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = fields.split(' ').collect();
        let ended = matches!(*fields.first()?, "Z" | "X" | "x");
        let parent = fields.get(1)?.parse().ok()?;
        let terminal = fields.get(4)?.parse::<i32>().ok()?.cast_unsigned();
        let start = fields.get(19)?.parse().ok()?;
        (!ended && terminal != 0).then_some(Self { process, parent, start, terminal })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_behind_any_name() {
        let stat = |state: &str, tty: i32| {
            format!("7 (a) b (c) {state} 1 7 7 {tty} 7 4194304 1 2 3 4 5 6 7 8 20 0 1 0 4711 100 200")
        };
        let alive = Alive::read(7, &stat("S", 34817)).unwrap();
        assert_eq!(alive, Alive { process: 7, parent: 1, start: 4711, terminal: 34817 });
        assert_eq!(Alive::read(7, &stat("Z", 34817)), None);
        assert_eq!(Alive::read(7, &stat("S", 0)), None);
        assert_eq!(Alive::read(7, "nonsense"), None);
    }
}
