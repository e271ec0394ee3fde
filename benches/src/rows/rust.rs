//! Which rows are measured from Rust?
//!
//! The floor is a blocking write and read. What a task pays on top, whichever client it uses, is
//! tokio's wait for readiness: the asynchronous engine is held against the floor with it, and shown
//! beside the bare one. All differences are to the bare one.

use crate::engine::{AsyncEngine, BlockingEngine};
use crate::floor::{AsyncFloor, Floor};
use crate::host::{AsyncHost, BlockingHost};
use crate::http_floor::{AsyncPost, BlockingPost};
use crate::measure::IN_FLIGHT;
use crate::peer_rmcp::{AsyncRmcp, BlockingRmcp};
use crate::rows::{Bar, Line, Start};

const FLOOR: &str = "P4 floor: bare pipe";
const TOKIO: &str = "P4 async floor: the same in tokio";
const ENGINE: &str = "P4 engine, async";
const HOST: &str = "P4 Host, async";
const RMCP: &str = "P4 rmcp, async";
const ENGINE_SYNC: &str = "P4 engine, sync";
const HOST_SYNC: &str = "P4 Host, sync";
const RMCP_SYNC: &str = "P4 rmcp, sync";
const FLOOR_MANY: &str = "P5 floor: bare pipe, a write per call";
const BATCH_MANY: &str = "P5 bare pipe, 64 calls per write";
const ENGINE_MANY: &str = "P5 engine";
const HOST_MANY: &str = "P5 Host";
const RMCP_MANY: &str = "P5 rmcp";

const POST: &str = "P6 floor: bare reqwest, async";
const HTTP_ENGINE: &str = "P6 engine, async";
const HTTP_HOST: &str = "P6 Host, async";
const HTTP_RMCP: &str = "P6 rmcp, async";
const POST_SYNC: &str = "P6 floor: bare reqwest, sync";
const HTTP_ENGINE_SYNC: &str = "P6 engine, sync";
const HTTP_HOST_SYNC: &str = "P6 Host, sync";
const HTTP_RMCP_SYNC: &str = "P6 rmcp, sync";

/// The lines in the order of the table.
pub(super) fn lines() -> Vec<Line> {
    let line = Line::new;
    vec![
        line(FLOOR, None),
        line(TOKIO, Some((FLOOR, Bar::Shown))),
        line(ENGINE, Some((TOKIO, Bar::Ratio(1.3)))),
        line(ENGINE, Some((FLOOR, Bar::Shown))),
        line(HOST, Some((FLOOR, Bar::Above(6.0)))),
        line(HOST, Some((RMCP, Bar::Ratio(0.6)))),
        line(RMCP, None),
        line(ENGINE_SYNC, Some((FLOOR, Bar::Ratio(2.2)))),
        line(HOST_SYNC, Some((FLOOR, Bar::Above(12.0)))),
        line(HOST_SYNC, Some((RMCP_SYNC, Bar::Ratio(0.6)))),
        line(RMCP_SYNC, None),
        line(FLOOR_MANY, None),
        line(BATCH_MANY, None),
        line(ENGINE_MANY, Some((FLOOR_MANY, Bar::Rate(0.5)))),
        line(HOST_MANY, Some((RMCP_MANY, Bar::Rate(2.5)))),
        line(RMCP_MANY, None),
        line(POST, None),
        line(HTTP_ENGINE, Some((POST, Bar::Ratio(1.4)))),
        line(HTTP_HOST, Some((POST, Bar::Ratio(1.4)))),
        line(HTTP_HOST, Some((HTTP_RMCP, Bar::Ratio(1.0)))),
        line(HTTP_RMCP, None),
        line(POST_SYNC, None),
        line(HTTP_ENGINE_SYNC, Some((POST_SYNC, Bar::Ratio(1.4)))),
        line(HTTP_HOST_SYNC, Some((POST_SYNC, Bar::Ratio(1.4)))),
        line(HTTP_HOST_SYNC, Some((HTTP_RMCP_SYNC, Bar::Ratio(1.0)))),
        line(HTTP_RMCP_SYNC, None),
    ]
}

/// In the order of their turns.
pub(super) const STARTS: [(&str, Start); 21] = [
    (FLOOR, |_| {
        let mut floor = Floor::start()?;
        Ok(Box::new(move |effort| floor.one_by_one(effort.calls)))
    }),
    (TOKIO, |_| {
        let mut floor = AsyncFloor::start()?;
        Ok(Box::new(move |effort| floor.one_by_one(effort.calls)))
    }),
    (ENGINE, |_| {
        let engine = AsyncEngine::start()?;
        Ok(Box::new(move |effort| engine.one_by_one(effort.calls)))
    }),
    (HOST, |_| {
        let host = AsyncHost::start()?;
        Ok(Box::new(move |effort| host.one_by_one(effort.calls)))
    }),
    (RMCP, |_| {
        let rmcp = AsyncRmcp::start()?;
        Ok(Box::new(move |effort| rmcp.one_by_one(effort.calls)))
    }),
    (ENGINE_SYNC, |_| {
        let engine = BlockingEngine::start()?;
        Ok(Box::new(move |effort| engine.one_by_one(effort.calls)))
    }),
    (HOST_SYNC, |_| {
        let host = BlockingHost::start()?;
        Ok(Box::new(move |effort| host.one_by_one(effort.calls)))
    }),
    (RMCP_SYNC, |_| {
        let rmcp = BlockingRmcp::start()?;
        Ok(Box::new(move |effort| rmcp.one_by_one(effort.calls)))
    }),
    (FLOOR_MANY, |_| {
        let mut floor = Floor::start()?;
        Ok(Box::new(move |effort| floor.in_flight(effort, 1)))
    }),
    (BATCH_MANY, |_| {
        let mut floor = Floor::start()?;
        Ok(Box::new(move |effort| floor.in_flight(effort, IN_FLIGHT)))
    }),
    (ENGINE_MANY, |_| {
        let engine = AsyncEngine::start()?;
        Ok(Box::new(move |effort| engine.in_flight(effort)))
    }),
    (HOST_MANY, |_| {
        let host = AsyncHost::start()?;
        Ok(Box::new(move |effort| host.in_flight(effort)))
    }),
    (RMCP_MANY, |_| {
        let rmcp = AsyncRmcp::start()?;
        Ok(Box::new(move |effort| rmcp.in_flight(effort)))
    }),
    (POST, |_| {
        let post = AsyncPost::start()?;
        Ok(Box::new(move |effort| post.one_by_one(effort.calls)))
    }),
    (HTTP_ENGINE, |_| {
        let engine = AsyncEngine::start_http()?;
        Ok(Box::new(move |effort| engine.one_by_one(effort.calls)))
    }),
    (HTTP_HOST, |_| {
        let host = AsyncHost::start_http()?;
        Ok(Box::new(move |effort| host.one_by_one(effort.calls)))
    }),
    (HTTP_RMCP, |_| {
        let rmcp = AsyncRmcp::start_http()?;
        Ok(Box::new(move |effort| rmcp.one_by_one(effort.calls)))
    }),
    (POST_SYNC, |_| {
        let post = BlockingPost::start()?;
        Ok(Box::new(move |effort| post.one_by_one(effort.calls)))
    }),
    (HTTP_ENGINE_SYNC, |_| {
        let engine = BlockingEngine::start_http()?;
        Ok(Box::new(move |effort| engine.one_by_one(effort.calls)))
    }),
    (HTTP_HOST_SYNC, |_| {
        let host = BlockingHost::start_http()?;
        Ok(Box::new(move |effort| host.one_by_one(effort.calls)))
    }),
    (HTTP_RMCP_SYNC, |_| {
        let rmcp = BlockingRmcp::start_http()?;
        Ok(Box::new(move |effort| rmcp.one_by_one(effort.calls)))
    }),
];
