//! A sign of progress on stderr, for work of unknown length.

use super::output::Output;

const SPINNER_INTERVAL_MS: u64 = 100;

/// Hidden if stderr is not a terminal, and with `--json`.
pub(super) struct Spinner(indicatif::ProgressBar);

impl Spinner {
    pub(super) fn new(output: &Output) -> Self {
        // The progress bar draws nothing if stderr is not a terminal.
        let bar = if output.json {
            indicatif::ProgressBar::hidden()
        } else {
            indicatif::ProgressBar::new_spinner()
        };
        bar.enable_steady_tick(std::time::Duration::from_millis(SPINNER_INTERVAL_MS));
        Self(bar)
    }

    pub(super) fn show(&self, progress: String) {
        self.0.set_message(progress);
    }

    /// Runs `print` while the spinner is hidden.
    pub(super) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }

    pub(super) fn end(&self) {
        self.0.finish_and_clear();
    }
}
