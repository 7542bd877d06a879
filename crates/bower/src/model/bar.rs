//! Shows the progress of a pull on standard error: a bar in a terminal, plain lines elsewhere.
//! Everything shown comes from a [`super::PullStep`].

use std::io::Write;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::PullStep;

/// Shows steps; pass `|step| bar.show(&step)` to [`super::pull`].
pub struct Bar {
    /// The bar; `None` if lines are printed.
    drawn: Option<ProgressBar>,
    out: Box<dyn Write>,
    verbose: bool,
    total: u64,
    /// Last tenth that was printed, for lines.
    tenth: u64,
}

impl Bar {
    /// Creates a bar if standard error is a terminal, else prints lines. `verbose` adds the reasons of failures.
    pub fn new(is_terminal: bool, verbose: bool) -> Self {
        let bar = is_terminal.then(|| ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()));
        Self { drawn: bar, out: Box::new(std::io::stderr()), verbose, total: 0, tenth: 0 }
    }

    /// Shows one step.
    pub fn show(&mut self, step: &PullStep<'_>) {
        match step {
            PullStep::Waiting => self.line("another process is fetching this model; waiting for it"),
            PullStep::Trying { source } => {
                self.line(&format!("fetching from {source}"));
                self.spin("connecting");
            }
            PullStep::Failed { reason, wrong_content, .. } => {
                self.line(&went_on(reason, *wrong_content, self.verbose));
            }
            PullStep::File { file, bytes, have } => self.begin(file, *bytes, *have),
            PullStep::Bytes { have } => self.advance(*have),
            PullStep::Checked { file } => self.line(&format!("{file}: checksum is right")),
            PullStep::Packing => {
                self.line("packing for this program");
                self.spin("packing");
            }
        }
    }

    fn begin(&mut self, file: &str, bytes: u64, have: u64) {
        (self.total, self.tenth) = (bytes, have * 10 / bytes.max(1));
        if let Some(bar) = &self.drawn {
            bar.disable_steady_tick();
            bar.set_style(
                ProgressStyle::with_template(
                    "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta} left",
                )
                .expect("a template of known keys"),
            );
            bar.set_message(file.to_owned());
            bar.set_length(bytes);
            bar.set_position(have);
            bar.reset_eta();
        } else if have > 0 {
            self.line(&format!("{file}: {} of {} are here, continuing", mebibytes(have), mebibytes(bytes)));
        } else {
            self.line(&format!("{file}: {}", mebibytes(bytes)));
        }
    }

    fn advance(&mut self, have: u64) {
        if let Some(bar) = &self.drawn {
            bar.set_position(have);
            return;
        }
        let tenth = have * 10 / self.total.max(1);
        // Small files are complete before a line would help.
        if tenth > self.tenth && self.total > 8 << 20 {
            self.tenth = tenth;
            self.line(&format!("  {tenth}0%"));
        }
    }

    fn spin(&self, words: &str) {
        if let Some(bar) = &self.drawn {
            bar.set_style(
                ProgressStyle::with_template("{spinner} {msg} {elapsed}").expect("a template of known keys"),
            );
            bar.set_message(words.to_owned());
            bar.enable_steady_tick(std::time::Duration::from_millis(100));
        }
    }

    fn line(&mut self, words: &str) {
        match &self.drawn {
            Some(bar) => bar.println(words),
            // A failure to print must not stop the work.
            None => drop(writeln!(self.out, "{words}")),
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.drawn {
            bar.finish_and_clear();
        }
    }
}

/// Formats the message after a failed source. Only the hub has another source after it. Its failure does not matter to a user
/// who gets the model anyway, so the reason is printed only with `verbose`.
fn went_on(reason: &str, wrong_content: bool, verbose: bool) -> String {
    let what = if wrong_content { "gave something else than the model" } else { "cannot be reached" };
    let why = if verbose { format!(" ({reason})") } else { String::new() };
    format!("the model hub {what}; using pip{why}")
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hub_being_away_is_told_calmly() {
        let reason = "cannot fetch http://h/x: the host is unknown: no network?";
        assert_eq!(went_on(reason, false, false), "the model hub cannot be reached; using pip");
        assert_eq!(
            went_on(reason, false, true),
            format!("the model hub cannot be reached; using pip ({reason})")
        );
        let other = "cannot fetch http://h/x: what came has another checksum";
        assert_eq!(
            went_on(other, true, false),
            "the model hub gave something else than the model; using pip"
        );
    }
}
