//! One signal that everything is about to end.

use std::sync::Arc;

use tokio::sync::watch;

/// A flag that is raised once and that anybody may wait for.
#[derive(Clone, Debug)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}

impl Stop {
    /// Makes a flag that is not raised.
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Raises the flag; again does nothing.
    pub fn raise(&self) {
        self.0.send_replace(true);
    }

    /// Tells whether the flag is raised.
    pub fn is_raised(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until the flag is raised.
    pub async fn raised(&self) {
        let mut receiver = self.0.subscribe();
        // An error would mean that the sender is gone, and `self` holds it.
        let _ = receiver.wait_for(|raised| *raised).await;
    }
}
