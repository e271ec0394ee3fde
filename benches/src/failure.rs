//! Why was there nothing to measure?

use std::path::PathBuf;

/// A run that could not be made, or whose calls were not answered as they should be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A command line that means nothing.
    #[error("{0:?} is no option; use --quick, --rows=P1,P2 or none")]
    Usage(String),
    /// A pipe, a process or a thread that does not work.
    #[error("a pipe or a process does not work: {0}")]
    Io(#[from] std::io::Error),
    /// A reply that is not the answer to what was asked: the times would mean nothing.
    #[error("{who} was answered with {reply:?}")]
    WrongReply {
        /// Which contestant.
        who: &'static str,
        /// What came instead.
        reply: String,
    },
    /// A call through our own client failed.
    #[error("{0}")]
    Ours(#[from] toolspan::Error),
    /// A call through rmcp failed.
    #[error("rmcp: {0}")]
    Rmcp(#[from] rmcp::ServiceError),
    /// A request of the floor failed.
    #[error("reqwest: {0}")]
    Reqwest(#[from] reqwest::Error),
    /// rmcp could not start the server.
    #[error("rmcp: {0}")]
    RmcpStart(#[from] Box<rmcp::service::ClientInitializeError>),
    /// The null server gave up.
    #[error("the null server: {0}")]
    Server(#[from] toolspan_faults::CommandError),
    /// A list of recorded tools, a schema in it or a call's text that cannot be read.
    #[error("what is measured cannot be read: {0}")]
    Unreadable(String),
    /// A caller panicked.
    #[error("a caller ended: {0}")]
    Caller(#[from] tokio::task::JoinError),
    /// An environment, a program or our module is missing.
    #[error("{} is not there: {remedy}", path.display())]
    NotThere {
        /// What.
        path: PathBuf,
        /// What brings it.
        remedy: &'static str,
    },
    /// A process in Python ended before its time.
    #[error("{who}: its process ended; what it said is above")]
    Ended {
        /// Which contestant.
        who: &'static str,
    },
    /// A process in Python does not answer.
    #[error("{who}: its process has said nothing for a minute")]
    Silent {
        /// Which contestant.
        who: &'static str,
    },
    /// A system that does not tell how much memory a process has.
    #[error(
        "row P14 reads VmRSS in /proc/PID/status, which Linux alone has: leave it out by --rows"
    )]
    NoProc,
    /// Rows that the table does not have.
    #[error("the table has no row {0:?}")]
    NoRow(String),
    /// A column's process ended without its figures.
    #[error("the run of the column {0} gave no figures")]
    NoFigures(&'static str),
}
