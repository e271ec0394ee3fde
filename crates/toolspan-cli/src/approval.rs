//! Who approves a call that the policy wants confirmed?

use std::future::ready;
use std::sync::Arc;

use toolspan::BoxFuture;
use toolspan::policy::{Answer, Approver, Question};

use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::question::Questions;

/// The person who typed this one call has approved it by that.
pub(crate) struct Typed;

impl Approver for Typed {
    fn approve<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(ready(Answer::Once))
    }
}

/// Asks the person at the terminal.
pub(crate) struct AtTerminal {
    output: Arc<Output>,
    interrupt: Interrupt,
}

impl AtTerminal {
    /// `None` when there is no terminal to ask on and to be answered from.
    pub(crate) fn new(output: &Arc<Output>, interrupt: &Interrupt) -> Option<Self> {
        let is_answered = Questions::new(output, interrupt).is_answered();
        is_answered.then(|| Self {
            output: Arc::clone(output),
            interrupt: interrupt.clone(),
        })
    }

    /// Waits on this thread: one call is made at a time, so nothing else is kept waiting.
    fn answer(&self, question: &Question) -> Answer {
        for line in question.text().lines() {
            self.output.error_line(&format!("  {line}"));
        }
        let questions = Questions::new(&self.output, &self.interrupt);
        let choice = match question.may_remember() {
            true => "run it? [y]es, yes for this [s]ession, [N]o",
            false => "run it? [y]es, [N]o",
        };
        let Some(line) = questions.line_of(choice) else {
            self.interrupt.stop();
            return Answer::Refuse("stopped".to_owned());
        };
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => Answer::Once,
            "s" | "session" if question.may_remember() => Answer::Session,
            _ => Answer::Refuse(String::new()),
        }
    }
}

impl Approver for AtTerminal {
    fn approve<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async { self.answer(question) })
    }
}
