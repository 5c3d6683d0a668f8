//! Every property in every state within the bounds, and what breaks without each rule.

use cellar_core::sync::{PushRules, PushSafetyRule};
use cellar_models::push::properties::{ANSWERS, NOT_REJECTED, NUMBERED};
use cellar_models::push::{Budget, PushModel, Says};

use crate::checking::{check, finds};

const EDITS: [Says; 2] = [Says::Edit, Says::Edit];

fn bounded(mutations: &[&[Says]], budget: Budget) -> PushModel {
    let mutations = mutations.iter().map(|says| says.to_vec()).collect();
    PushModel { mutations, budget, ..PushModel::default() }
}

fn check_push(name: &str, model: PushModel) {
    let bounds = format!("{:?}, {:?}", model.mutations, model.budget);
    check(name, &bounds, model);
}

#[test]
fn pushes_are_given_up_and_repeated() {
    let budget = Budget { given_up: 1, stale: 1, ..Budget::default() };
    check_push("push, given up", bounded(&[&EDITS, &EDITS], budget));
}

#[test]
fn roots_forget_clients() {
    let budget = Budget { given_up: 1, forgotten: 1, ..Budget::default() };
    check_push("push, forgotten", bounded(&[&EDITS, &EDITS], budget));
}

#[test]
fn a_restore_under_pushes() {
    let budget = Budget { given_up: 1, restores: 1, ..Budget::default() };
    check_push("push, restored", bounded(&[&EDITS, &[Says::Edit]], budget));
}

#[test]
fn mutations_that_cannot_succeed() {
    let budget = Budget { given_up: 1, ..Budget::default() };
    for poison in [Says::Nothing, Says::NoBase] {
        let name = format!("push, {poison:?}");
        check_push(&name, bounded(&[&[Says::Edit, poison], &[Says::Edit]], budget));
        check_push(&name, bounded(&[&[poison, Says::Edit], &[Says::Edit]], budget));
    }
}

#[test]
fn who_goes_on_pushing_finishes() {
    let budget = Budget { given_up: 1, stale: 1, forgotten: 1, restores: 1 };
    for says in [EDITS, [Says::Nothing, Says::Edit], [Says::Edit, Says::NoBase]] {
        let model = bounded(&[&says], budget);
        check_push("push, finishing", PushModel { finishing: true, ..model });
    }
}

fn without(rule: PushSafetyRule, model: PushModel, properties: &[&'static str]) {
    let rules = PushRules { without: Some(rule) };
    finds(&format!("without {rule:?}"), PushModel { rules, ..model }, properties);
}

#[test]
fn who_does_not_look_up_a_gap_takes_a_client_for_unknown() {
    without(PushSafetyRule::GapLookedUp, PushModel::default(), &[ANSWERS]);
}

#[test]
fn who_does_not_look_up_a_rejection_rejects_again_what_was_rejected_or_took_effect() {
    let rule = PushSafetyRule::RejectionLookedUp;
    let poisoned = bounded(&[&[Says::Nothing, Says::Edit]], Budget::default());
    without(rule, poisoned, &[NUMBERED, ANSWERS]);
    let restored = bounded(&[&EDITS], Budget { restores: 1, ..Budget::default() });
    without(rule, restored, &[NOT_REJECTED]);
}
