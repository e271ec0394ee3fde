//! Which colours are used, and when? As a help only: every text means the same without them.

use anstyle::{AnsiColor, Effects};

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// A heading or a name.
    Strong,
    /// Less important than what stands around it.
    Faint,
    /// Went well.
    Good,
    /// Needs a look.
    Caution,
    /// Went wrong.
    Bad,
    /// The next step.
    Hint,
}

impl Style {
    fn ansi(self) -> anstyle::Style {
        let colour = |colour: AnsiColor| anstyle::Style::new().fg_color(Some(colour.into()));
        match self {
            Self::Strong => anstyle::Style::new().effects(Effects::BOLD),
            Self::Faint => anstyle::Style::new().effects(Effects::DIMMED),
            Self::Good => colour(AnsiColor::Green),
            Self::Caution => colour(AnsiColor::Yellow),
            Self::Bad => colour(AnsiColor::Red).effects(Effects::BOLD),
            Self::Hint => colour(AnsiColor::Cyan),
        }
    }

    /// The text in this style where colour is on, else the text.
    pub(crate) fn paint(self, text: &str, colour: bool) -> String {
        if !colour || text.is_empty() {
            return text.to_owned();
        }
        let style = self.ansi();
        format!("{style}{text}{style:#}")
    }
}
