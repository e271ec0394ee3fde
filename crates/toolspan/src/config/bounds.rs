//! Which limits and timeouts can a config set, and what values are allowed?
//!
//! The two tables here drive the reader, `config schema` and `config show`.

use std::time::Duration;

use toolspan_core::guard::{Limits, Timeouts};

use super::field::{Field, Table};
use super::keys::warn_unknown;
use super::problem::{Problem, Warnings};

/// Longest time a config can give, in seconds: a day.
pub(super) const LONGEST: f64 = 86_400.0;
/// Shortest time a config can give, in seconds.
const SHORTEST: f64 = 0.001;

/// Largest `timeout` of a server that is taken for seconds; a larger one is in milliseconds, as
/// several other programs write it.
const MOST_SECONDS: f64 = 3_600.0;
/// Default of `limits.max_in_flight` for a remote server.
pub(super) const REMOTE_IN_FLIGHT: usize = 100;

/// A key of `limits`.
pub(super) struct LimitKey {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    /// Largest value allowed; the smallest is 1.
    pub(super) largest: usize,
    /// Whether it counts over the whole host, so that a toolbox cannot have its own.
    pub(super) is_global: bool,
    pub(super) field: fn(&mut Limits) -> &mut usize,
}

/// A key of `timeouts`.
pub(super) struct TimeoutKey {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) field: fn(&mut Timeouts) -> &mut Duration,
}

/// 1 GiB; more than this is a slip, not a wish.
const GIB: usize = 1 << 30;
const MILLION: usize = 1_000_000;

const fn limit(
    name: &'static str,
    largest: usize,
    description: &'static str,
    field: fn(&mut Limits) -> &mut usize,
) -> LimitKey {
    LimitKey {
        name,
        description,
        largest,
        is_global: false,
        field,
    }
}

/// All keys of `limits`. `json_depth` stays at what a JSON parser can recurse to.
pub(super) const LIMITS: &[LimitKey] = &[
    limit(
        "message_bytes",
        GIB,
        "Largest message taken from a server, in bytes",
        |limits| &mut limits.message_bytes,
    ),
    limit(
        "arguments_bytes",
        GIB,
        "Largest arguments of a call, in bytes",
        |limits| &mut limits.arguments_bytes,
    ),
    limit(
        "json_depth",
        128,
        "Deepest nesting in a message or in arguments",
        |limits| &mut limits.json_depth,
    ),
    limit(
        "tools",
        MILLION,
        "Most tools taken from one toolbox",
        |limits| &mut limits.tools,
    ),
    limit(
        "pages",
        MILLION,
        "Most pages of a tool list that are asked for",
        |limits| &mut limits.pages,
    ),
    limit(
        "schema_bytes",
        GIB,
        "Largest schema of one tool, in bytes",
        |limits| &mut limits.schema_bytes,
    ),
    limit(
        "output_chars",
        GIB,
        "Most characters of a result that a model is given",
        |limits| &mut limits.output_chars,
    ),
    limit(
        "stderr_bytes",
        GIB,
        "Bytes of a server's standard error that are kept",
        |limits| &mut limits.stderr_bytes,
    ),
    limit(
        "max_in_flight",
        MILLION,
        "Most calls in flight on one toolbox",
        |limits| &mut limits.max_in_flight,
    ),
    LimitKey {
        is_global: true,
        ..limit(
            "in_flight_total",
            MILLION,
            "Most calls in flight on the host",
            |limits| &mut limits.in_flight_total,
        )
    },
    limit(
        "queue",
        MILLION,
        "Most calls of one toolbox that wait for a place",
        |limits| &mut limits.queue,
    ),
    LimitKey {
        is_global: true,
        ..limit(
            "concurrency",
            MILLION,
            "Most calls of one batch that run at the same time",
            |limits| &mut limits.concurrency,
        )
    },
];

/// All keys of `timeouts`.
pub(super) const TIMEOUTS: &[TimeoutKey] = &[
    TimeoutKey {
        name: "connect",
        description: "From the start of a server to its finished handshake, in seconds",
        field: |timeouts| &mut timeouts.connect,
    },
    TimeoutKey {
        name: "list",
        description: "One listing of all tools, in seconds",
        field: |timeouts| &mut timeouts.list,
    },
    TimeoutKey {
        name: "idle",
        description: "A call without any sign of life, in seconds",
        field: |timeouts| &mut timeouts.idle,
    },
    TimeoutKey {
        name: "total",
        description: "A call as a whole, in seconds",
        field: |timeouts| &mut timeouts.total,
    },
    TimeoutKey {
        name: "close",
        description: "Closing a toolbox, in seconds",
        field: |timeouts| &mut timeouts.close,
    },
];

/// Limits and timeouts together, as they are read: each one over what it was before.
#[derive(Clone, Default)]
pub(super) struct Bounds {
    pub(super) limits: Limits,
    pub(super) timeouts: Timeouts,
    /// Whether `max_in_flight` was written, so that no other default stands in for it.
    has_in_flight: bool,
}

impl Bounds {
    /// Reads `limits`, `timeout`, `timeouts` and, for a toolbox, `max_in_flight` and
    /// `sse_read_timeout`, which is another name of `timeouts.idle`.
    ///
    /// `timeout` sets `connect` and `total`, and raises `idle` to itself: a call that may take so
    /// long is not cut for its silence. `timeouts` wins over `timeout`.
    pub(super) fn read(
        &mut self,
        table: &Table<'_>,
        scope: BoundsScope,
        warnings: &mut Warnings,
    ) -> Result<(), Problem> {
        if let Some(limits) = table.get("limits") {
            self.read_limits(&limits.table()?, scope, warnings)?;
        }
        if scope == BoundsScope::Toolbox
            && let Some(most) = table.get("max_in_flight")
        {
            self.limits.max_in_flight = count(&most, MILLION, warnings)?;
            self.has_in_flight = true;
        }
        if let Some(timeout) = table.get("timeout") {
            let timeout = match scope {
                BoundsScope::Host => seconds(&timeout, warnings)?,
                BoundsScope::Toolbox => timeout_of_a_server(&timeout, warnings)?,
            };
            self.timeouts.connect = timeout;
            self.timeouts.total = timeout;
            self.timeouts.idle = self.timeouts.idle.max(timeout);
        }
        if let Some(idle) = table.get("sse_read_timeout")
            && scope == BoundsScope::Toolbox
        {
            self.timeouts.idle = seconds(&idle, warnings)?;
        }
        if let Some(timeouts) = table.get("timeouts") {
            self.read_timeouts(&timeouts.table()?, warnings)?;
        }
        Ok(())
    }

    /// The limits of a remote server: fewer calls in flight, unless the config says how many.
    pub(super) fn for_remote(&mut self) {
        if !self.has_in_flight {
            self.limits.max_in_flight = REMOTE_IN_FLIGHT;
        }
    }

    fn read_limits(
        &mut self,
        table: &Table<'_>,
        scope: BoundsScope,
        warnings: &mut Warnings,
    ) -> Result<(), Problem> {
        warn_unknown(table, LIMITS.iter().map(|key| key.name), &[], warnings);
        for key in LIMITS {
            let Some(field) = table.get(key.name) else {
                continue;
            };
            let value = count(&field, key.largest, warnings)?;
            if key.is_global && scope == BoundsScope::Toolbox {
                warnings.add(|| {
                    field
                        .problem("this limit counts over all toolboxes and has no effect here")
                        .with_hint("set it in \"limits\" at the top of the config")
                });
            } else {
                *(key.field)(&mut self.limits) = value;
                self.has_in_flight |= key.name == "max_in_flight";
            }
        }
        Ok(())
    }

    fn read_timeouts(&mut self, table: &Table<'_>, warnings: &mut Warnings) -> Result<(), Problem> {
        warn_unknown(table, TIMEOUTS.iter().map(|key| key.name), &[], warnings);
        for key in TIMEOUTS {
            if let Some(field) = table.get(key.name) {
                *(key.field)(&mut self.timeouts) = seconds(&field, warnings)?;
            }
        }
        Ok(())
    }
}

/// For what bounds are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BoundsScope {
    Host,
    Toolbox,
}

pub(super) fn seconds(field: &Field<'_>, warnings: &mut Warnings) -> Result<Duration, Problem> {
    let number = field.number(warnings)?;
    if !(SHORTEST..=LONGEST).contains(&number.value) {
        let message = format!(
            "this must be a number of seconds from {SHORTEST} to {LONGEST}, not {}",
            shown(number.text)
        );
        return Err(field.problem(message));
    }
    Duration::try_from_secs_f64(number.value).map_err(|_| field.wrong_type("a number of seconds"))
}

/// The `timeout` of a server. Over an hour it is what other programs mean: milliseconds.
fn timeout_of_a_server(field: &Field<'_>, warnings: &mut Warnings) -> Result<Duration, Problem> {
    let value = field.number(&mut Warnings::default())?.value;
    if !(MOST_SECONDS..=LONGEST * 1_000.0).contains(&value) || value == MOST_SECONDS {
        return seconds(field, warnings);
    }
    warnings.add(|| {
        field
            .problem(format!(
                "a timeout over {MOST_SECONDS} is taken as milliseconds, as other programs write it"
            ))
            .with_hint(format!(
                "write {} here, or set \"timeouts\", which are always in seconds",
                value / 1_000.0
            ))
    });
    Duration::try_from_secs_f64(value / 1_000.0)
        .map_err(|_| field.wrong_type("a number of seconds"))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the value is whole and from 1 to `largest`, which a double holds exactly"
)]
fn count(field: &Field<'_>, largest: usize, warnings: &mut Warnings) -> Result<usize, Problem> {
    let number = field.number(warnings)?;
    let is_whole = number.value.fract() == 0.0;
    if !is_whole || !(1.0..=largest as f64).contains(&number.value) {
        let message = format!(
            "this must be a whole number from 1 to {largest}, not {}",
            shown(number.text)
        );
        return Err(field.problem(message));
    }
    Ok(number.value as usize)
}

/// A number as it was written, cut.
fn shown(text: &str) -> String {
    toolspan_core::guard::sanitise::one_line(text, 24)
}
