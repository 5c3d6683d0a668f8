//! Every property in every state within the bounds, and the violations without each rule.

use cellar_api::sync::{PushRules, PushSafetyRule};
use cellar_models::push::properties::{ANSWERS, NOT_REJECTED, NUMBERED};
use cellar_models::push::{Budget, MutationContent, PushModel};

use crate::checking::{check, expect_violations};

const EDITS: [MutationContent; 2] = [MutationContent::Edit, MutationContent::Edit];

fn bounded(mutations: &[&[MutationContent]], budget: Budget) -> PushModel {
    let mutations = mutations.iter().map(|contents| contents.to_vec()).collect();
    PushModel { mutations, budget, ..PushModel::default() }
}

fn check_push(name: &str, model: PushModel) {
    let bounds = format!("{:?}, {:?}", model.mutations, model.budget);
    check(name, &bounds, model);
}

#[test]
fn pushes_are_abandoned_and_repeated() {
    let budget = Budget { stale: 1, ..Budget::default() };
    check_push("push, stale", bounded(&[&EDITS, &EDITS], budget));
    let budget = Budget { abandoned: 1, ..Budget::default() };
    check_push("push, abandoned", bounded(&[&EDITS, &[MutationContent::Edit]], budget));
}

#[test]
fn roots_forget_clients() {
    let budget = Budget { forgotten: 1, ..Budget::default() };
    check_push("push, forgotten", bounded(&[&EDITS, &EDITS], budget));
    check_push(
        "push, forgotten",
        bounded(&[&[MutationContent::Invalid, MutationContent::Edit], &EDITS], budget),
    );
    let budget = Budget { abandoned: 1, ..budget };
    check_push("push, forgotten", bounded(&[&EDITS, &[MutationContent::Edit]], budget));
}

#[test]
fn a_restore_during_pushes() {
    let budget = Budget { restores: 1, ..Budget::default() };
    check_push("push, restored", bounded(&[&EDITS, &[MutationContent::Edit]], budget));
    check_push("push, restored", bounded(&[&[MutationContent::Edit; 3]], budget));
    let budget = Budget { forgotten: 1, ..budget };
    check_push("push, restored", bounded(&[&EDITS, &[MutationContent::Edit]], budget));
}

#[test]
fn mutations_that_cannot_succeed() {
    let budget = Budget { abandoned: 1, ..Budget::default() };
    check_push(
        "push, poison",
        bounded(
            &[&[MutationContent::Edit, MutationContent::Invalid], &[MutationContent::Edit]],
            budget,
        ),
    );
    check_push(
        "push, poison",
        bounded(
            &[&[MutationContent::NoBase, MutationContent::Edit], &[MutationContent::Edit]],
            budget,
        ),
    );
    let budget = Budget { stale: 1, ..Budget::default() };
    check_push(
        "push, poison",
        bounded(
            &[&[MutationContent::Edit, MutationContent::NoBase], &[MutationContent::Edit]],
            budget,
        ),
    );
    check_push(
        "push, poison",
        bounded(
            &[&[MutationContent::Invalid, MutationContent::Edit], &[MutationContent::NoBase]],
            budget,
        ),
    );
}

#[test]
fn a_client_that_keeps_pushing_finishes() {
    let finishing = |contents: &[MutationContent], budget| {
        let model = PushModel { finishing: true, ..bounded(&[contents], budget) };
        check_push("push, finishing", model);
    };
    let budget = Budget { abandoned: 1, stale: 1, forgotten: 1, restores: 1 };
    finishing(&EDITS, budget);
    finishing(&[MutationContent::Invalid, MutationContent::Edit], budget);
    finishing(&[MutationContent::Edit, MutationContent::NoBase], Budget { stale: 0, ..budget });
    finishing(&[MutationContent::Edit; 3], Budget { restores: 1, ..Budget::default() });
}

#[test]
#[ignore = "minutes: the long run"]
fn long_pushes() {
    let budget = Budget { abandoned: 1, stale: 1, ..Budget::default() };
    check_push("push, abandoned", bounded(&[&EDITS, &EDITS], budget));
}

#[test]
#[ignore = "minutes: the long run"]
fn long_restores_under_pushes() {
    let budget = Budget { abandoned: 1, forgotten: 1, restores: 1, ..Budget::default() };
    check_push("push, restored", bounded(&[&EDITS, &[MutationContent::Edit]], budget));
    let poisoned = bounded(
        &[&[MutationContent::Invalid, MutationContent::NoBase], &[MutationContent::Edit]],
        budget,
    );
    check_push("push, restored", poisoned);
}

fn check_without(rule: PushSafetyRule, model: PushModel, properties: &[&'static str]) {
    let rules = PushRules::without(rule);
    expect_violations(&format!("without {rule:?}"), PushModel { rules, ..model }, properties);
}

#[test]
fn without_the_lookup_of_a_gap_a_known_client_is_reported_unknown() {
    check_without(PushSafetyRule::GapLookedUp, PushModel::default(), &[ANSWERS]);
}

#[test]
fn without_the_lookup_of_a_rejection_a_mutation_is_rejected_again() {
    let rule = PushSafetyRule::RejectionLookedUp;
    let poisoned =
        bounded(&[&[MutationContent::Invalid], &[MutationContent::Edit]], Budget::default());
    check_without(rule, poisoned, &[NUMBERED]);
    let poisoned = bounded(
        &[&[MutationContent::Edit, MutationContent::Invalid], &[MutationContent::Edit]],
        Budget::default(),
    );
    check_without(rule, poisoned, &[ANSWERS]);
    let budget = Budget { restores: 1, ..Budget::default() };
    let restored = bounded(&[&[MutationContent::Edit], &[MutationContent::Edit]], budget);
    check_without(rule, restored, &[NOT_REJECTED]);
}
