//! A proxy between clients and an API. The proxy drops requests and responses, duplicates and
//! delays requests, and can go offline.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::{IntoResponse, Response};
use fastrand::Rng;

use crate::forwarding::{Target, break_connection, serve};

/// Probability of each fault, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Faults {
    /// The request never arrives at the server.
    pub drop_request: u8,
    /// The request is executed, but the response is lost.
    pub drop_reply: u8,
    /// The request arrives twice, and the second response is returned.
    pub twice: u8,
    /// The request is delayed by up to 30 milliseconds, so that other requests overtake it.
    pub delay: u8,
}

/// Number of faults so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Number of requests that never arrived, not counting requests sent while the proxy was
    /// offline.
    pub dropped_requests: u32,
    /// Number of responses that never arrived.
    pub dropped_replies: u32,
    /// Number of requests that arrived twice.
    pub doubled: u32,
}

/// A proxy that injects faults.
pub struct FaultyProxy {
    /// URL of the proxy.
    pub url: String,
    shared: Arc<Shared>,
}

struct Shared {
    target: Target,
    is_offline: AtomicBool,
    world: Mutex<World>,
}

struct World {
    random: Rng,
    faults: Faults,
    counts: Counts,
}

impl FaultyProxy {
    /// Starts a proxy for the server at `target`. Until probabilities are set, the proxy injects no
    /// faults. With the same seed and the same requests, the faults are the same.
    pub async fn start(target: &str, seed: u64) -> Self {
        let (random, faults) = (Rng::with_seed(seed), Faults::default());
        let world = World { random, faults, counts: Counts::default() };
        let shared = Arc::new(Shared {
            target: Target::new(target),
            is_offline: AtomicBool::new(false),
            world: Mutex::new(world),
        });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        Self { url: serve(router).await, shared }
    }

    /// Sets the probabilities of the faults.
    pub fn set(&self, faults: Faults) {
        self.shared.world.lock().unwrap().faults = faults;
    }

    /// Takes the proxy offline, or online again.
    pub fn set_offline(&self, is_offline: bool) {
        self.shared.is_offline.store(is_offline, Ordering::SeqCst);
    }

    /// Returns the number of faults so far.
    pub fn counts(&self) -> Counts {
        self.shared.world.lock().unwrap().counts
    }
}

/// The faults that apply to one request.
#[derive(Clone, Copy)]
struct Plan {
    drop_request: bool,
    drop_reply: bool,
    twice: bool,
    delay: Option<Duration>,
}

impl World {
    fn plan(&mut self) -> Plan {
        let Faults { drop_request, drop_reply, twice, delay } = self.faults;
        let mut happens = |percent: u8| self.random.u8(..100) < percent;
        let drop_request = happens(drop_request);
        let (drop_reply, twice) = (!drop_request && happens(drop_reply), happens(twice));
        let waits = happens(delay);
        let delay = waits.then(|| Duration::from_millis(self.random.u64(1..30)));
        self.counts.dropped_requests += u32::from(drop_request);
        self.counts.dropped_replies += u32::from(drop_reply);
        self.counts.doubled += u32::from(twice && !drop_request);
        Plan { drop_request, drop_reply, twice, delay }
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let plan = shared.world.lock().unwrap().plan();
    if let Some(delay) = plan.delay {
        tokio::time::sleep(delay).await;
    }
    if plan.drop_request || shared.is_offline.load(Ordering::SeqCst) {
        break_connection();
    }
    let request = (method, uri, headers, body);
    if plan.twice {
        let _ = shared.target.pass_on(request.clone()).await;
    }
    match shared.target.pass_on(request).await {
        Ok(reply) if !plan.drop_reply => reply.into_response(),
        _ => break_connection(),
    }
}
