//! The simulated queue of snapshot jobs. The queue delivers messages twice, late and in any order.

use std::sync::Arc;

use async_trait::async_trait;
use cellar_engine::ports::{Jobs, PortError, Receipt, Received};

use crate::process::Process;
use crate::rare::RareEvent;
use crate::world::World;

/// Sends a message to the queue, with the faults of the fault plan.
async fn deliver(world: &Arc<World>, body: String) -> Result<(), PortError> {
    let (plan, random) = (world.plan(), &world.random);
    if random.happens(plan.lost) {
        world.count(RareEvent::MessageLost);
        world.event("queue", format_args!("loses {body}"));
        return Ok(());
    }
    let copies = if random.happens(plan.duplicated) { 2 } else { 1 };
    if copies > 1 {
        world.count(RareEvent::MessageDuplicated);
    }
    for _ in 0..copies {
        if !random.happens(plan.delayed) {
            world.queue.send(&body).await?;
            continue;
        }
        let (late_ms, body, world) =
            (random.draw_mostly_small(plan.delay_max_ms), body.clone(), Arc::clone(world));
        drop(tokio::spawn(async move {
            world.sleep_ms(late_ms).await;
            world.count(RareEvent::MessageDelayed);
            if let Err(error) = world.queue.send(&body).await {
                world.report_violation(format_args!(
                    "the queue accepted {body} but lost it: {error}"
                ));
            }
        }));
    }
    Ok(())
}

#[async_trait]
impl Jobs for Process {
    async fn send(&self, body: &str) -> Result<(), PortError> {
        let (world, message) = (Arc::clone(self.world()), body.to_owned());
        let effect = async move { deliver(&world, message).await };
        self.call(format!("send {body}"), effect).await.and_then(|sent| sent)
    }

    async fn receive(&self, max: u8, visibility_s: u32) -> Result<Vec<Received>, PortError> {
        let world = Arc::clone(self.world());
        let effect = async move { world.queue.receive(max, visibility_s).await };
        self.call("receive".to_owned(), effect).await.and_then(|received| received)
    }

    async fn change_visibility(
        &self,
        receipt: &Receipt,
        visibility_s: u32,
    ) -> Result<bool, PortError> {
        let (world, of) = (Arc::clone(self.world()), receipt.clone());
        let effect = async move { world.queue.change_visibility(&of, visibility_s).await };
        let what = format!("hide {} for {visibility_s} s", receipt.0);
        self.call(what, effect).await.and_then(|changed| changed)
    }

    async fn delete(&self, receipt: &Receipt) -> Result<(), PortError> {
        let (world, of) = (Arc::clone(self.world()), receipt.clone());
        let effect = async move { world.queue.delete(&of).await };
        self.call(format!("delete {}", receipt.0), effect).await.and_then(|deleted| deleted)
    }
}
