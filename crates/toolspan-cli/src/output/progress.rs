//! How is it shown that something is under way? On a terminal alone, and only if it takes a while.

use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use toolspan::Progress;
use toolspan::guard::sanitise;

use super::Output;

/// What takes less is not announced.
const PATIENCE: Duration = Duration::from_millis(300);
/// Time between two pictures of the spinner.
const TICK: Duration = Duration::from_millis(100);
/// Characters of a message beside a bar.
const LONGEST_MESSAGE: usize = 60;

/// A line on stderr that says what is under way. Dropping it wipes it.
pub(crate) struct Activity {
    output: Arc<Output>,
    bar: ProgressBar,
}

impl Activity {
    /// Something under way; invisible when nobody would see it or wants it.
    pub(crate) fn new(output: &Arc<Output>, message: impl Into<String>) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_style(spinner());
        bar.set_message(message.into());
        Self {
            output: Arc::clone(output),
            bar,
        }
    }

    /// Waits for the work, and shows the line once it takes longer than a moment.
    pub(crate) async fn during<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        tokio::select! {
            biased;
            ended = &mut work => return ended,
            () = tokio::time::sleep(PATIENCE) => self.show(),
        }
        work.await
    }

    /// What takes a call's progress.
    pub(crate) fn sink(&self) -> impl Fn(Progress) + Send + Sync + 'static {
        let bar = self.bar.clone();
        let title = bar.message();
        move |progress| update(&bar, &title, &progress)
    }

    fn show(&self) {
        if self.output.shows_progress() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(TICK);
            self.output.set_bar(Some(self.bar.clone()));
        }
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        self.output.set_bar(None);
        self.bar.finish_and_clear();
    }
}

/// Turns a progress into the bar's picture: a bar when the total is known, else a number.
fn update(bar: &ProgressBar, title: &str, progress: &Progress) {
    /// Parts of a whole that are told apart.
    const PARTS: f64 = 1_000.0;
    let words = progress.message.as_deref().unwrap_or_default();
    let words = sanitise::one_line(words, LONGEST_MESSAGE);
    match progress.total.filter(|total| *total > 0.0) {
        Some(total) => {
            if bar.length().is_none() {
                bar.set_style(full_bar());
                bar.set_length(PARTS as u64);
            }
            // The cast saturates, and NaN becomes 0.
            bar.set_position((progress.progress / total * PARTS).clamp(0.0, PARTS) as u64);
            bar.set_message(format!("{}/{total} {words}", progress.progress));
        }
        None if words.is_empty() => bar.set_message(format!("{title} ({})", progress.progress)),
        None => bar.set_message(format!("{title}: {words}")),
    }
}

fn spinner() -> ProgressStyle {
    ProgressStyle::default_spinner()
}

fn full_bar() -> ProgressStyle {
    let style = ProgressStyle::with_template("{bar:30} {msg}");
    style.unwrap_or_else(|_| ProgressStyle::default_bar())
}
