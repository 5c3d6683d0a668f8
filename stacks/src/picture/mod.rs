//! Draws a stack as a Mermaid flowchart, which GitHub shows as a picture.
//!
//! The boxes are functions, function URLs, tables, queues, buckets and topics. The arrows show what
//! starts a function, and what a function reads and writes. They are derived from the template:
//! from event source mappings, redrive policies, notifications, subscriptions, the statements of
//! roles, and the variables of functions. A statement on the resource `*` names no resource, so it
//! has no arrow.
//!
//! Roles, log groups, permissions, policies and event source mappings have no box of their own.
//! They belong to the box of a function, queue or bucket, and all alarms share one box.
//!
//! ```
//! use cellar_stacks::difference::Document;
//! use cellar_stacks::picture::draw_stack;
//! use cellar_stacks::{Architecture, Config, cellar_stack};
//!
//! let template = cellar_stack(&Config::default(), Architecture::Arm64)?;
//! let picture = draw_stack(&Document::from(&template))?;
//! assert!(picture.contains("SnapshotQueue == \"starts\" ==> SnapshotFunction"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access;
mod arrows;
mod label;
pub mod limits;
mod marks;
mod mermaid;
mod nodes;
mod scene;
mod verb;

use thiserror::Error;

use crate::difference::{Document, ResourceChange};
use marks::MarkedScene;
use scene::Scene;

/// The reason why a stack cannot be drawn.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PictureError {
    #[error(
        "the picture would have {arrows} arrows, but Mermaid draws at most {}; \
         print the template as YAML instead",
        limits::ARROWS_MAX
    )]
    TooManyArrows { arrows: usize },
    #[error(
        "the picture would be {bytes} bytes long, but Mermaid reads at most {}; \
         print the template as YAML instead",
        limits::PICTURE_BYTES_MAX
    )]
    TooLong { bytes: usize },
}

/// Returns the stack as a Mermaid flowchart. Equal documents yield identical text.
///
/// # Errors
/// Returns a [`PictureError`] if the stack has more arrows or names than Mermaid draws. This does
/// not happen with the template of [`cellar_stack`](crate::cellar_stack).
pub fn draw_stack(document: &Document) -> Result<String, PictureError> {
    mermaid::write(&MarkedScene::unmarked(scene_of(document)))
}

/// Returns the new stack as a Mermaid flowchart in which the changes are marked by a colour and a
/// word. Deleted resources and arrows are drawn too.
///
/// `changes` are the changes from `old` to `new`, which
/// [`Difference::between`](crate::difference::Difference::between) returns.
///
/// # Errors
/// Returns a [`PictureError`] if the stack has more arrows or names than Mermaid draws.
pub fn draw_changes(
    old: &Document,
    new: &Document,
    changes: &[ResourceChange],
) -> Result<String, PictureError> {
    mermaid::write(&MarkedScene::of_changes(&scene_of(old), &scene_of(new), changes))
}

fn scene_of(document: &Document) -> Scene {
    let mut scene = Scene::without_arrows(document);
    arrows::add_arrows(&mut scene, document);
    scene
}
