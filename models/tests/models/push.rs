//! Every property in every state within the bounds, and what breaks without each rule.

use cellar_api::sync::{PushRules, PushSafetyRule};
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
    let budget = Budget { stale: 1, ..Budget::default() };
    check_push("push, stale", bounded(&[&EDITS, &EDITS], budget));
    let budget = Budget { given_up: 1, ..Budget::default() };
    check_push("push, given up", bounded(&[&EDITS, &[Says::Edit]], budget));
}

#[test]
fn roots_forget_clients() {
    let budget = Budget { forgotten: 1, ..Budget::default() };
    check_push("push, forgotten", bounded(&[&EDITS, &EDITS], budget));
    check_push("push, forgotten", bounded(&[&[Says::Nothing, Says::Edit], &EDITS], budget));
    let budget = Budget { given_up: 1, ..budget };
    check_push("push, forgotten", bounded(&[&EDITS, &[Says::Edit]], budget));
}

#[test]
fn a_restore_under_pushes() {
    let budget = Budget { restores: 1, ..Budget::default() };
    check_push("push, restored", bounded(&[&EDITS, &[Says::Edit]], budget));
    check_push("push, restored", bounded(&[&[Says::Edit; 3]], budget));
    let budget = Budget { forgotten: 1, ..budget };
    check_push("push, restored", bounded(&[&EDITS, &[Says::Edit]], budget));
}

#[test]
fn mutations_that_cannot_succeed() {
    let budget = Budget { given_up: 1, ..Budget::default() };
    check_push("push, poison", bounded(&[&[Says::Edit, Says::Nothing], &[Says::Edit]], budget));
    check_push("push, poison", bounded(&[&[Says::NoBase, Says::Edit], &[Says::Edit]], budget));
    let budget = Budget { stale: 1, ..Budget::default() };
    check_push("push, poison", bounded(&[&[Says::Edit, Says::NoBase], &[Says::Edit]], budget));
    check_push("push, poison", bounded(&[&[Says::Nothing, Says::Edit], &[Says::NoBase]], budget));
}

#[test]
fn who_goes_on_pushing_finishes() {
    let finishing = |says: &[Says], budget| {
        let model = PushModel { finishing: true, ..bounded(&[says], budget) };
        check_push("push, finishing", model);
    };
    let budget = Budget { given_up: 1, stale: 1, forgotten: 1, restores: 1 };
    finishing(&EDITS, budget);
    finishing(&[Says::Nothing, Says::Edit], budget);
    finishing(&[Says::Edit, Says::NoBase], Budget { stale: 0, ..budget });
    finishing(&[Says::Edit; 3], Budget { restores: 1, ..Budget::default() });
}

#[test]
#[ignore = "minutes: the long run"]
fn long_pushes() {
    let budget = Budget { given_up: 1, stale: 1, ..Budget::default() };
    check_push("push, given up", bounded(&[&EDITS, &EDITS], budget));
}

#[test]
#[ignore = "minutes: the long run"]
fn long_restores_under_pushes() {
    let budget = Budget { given_up: 1, forgotten: 1, restores: 1, ..Budget::default() };
    check_push("push, restored", bounded(&[&EDITS, &[Says::Edit]], budget));
    let poisoned = bounded(&[&[Says::Nothing, Says::NoBase], &[Says::Edit]], budget);
    check_push("push, restored", poisoned);
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
    let poisoned = bounded(&[&[Says::Nothing], &[Says::Edit]], Budget::default());
    without(rule, poisoned, &[NUMBERED]);
    let poisoned = bounded(&[&[Says::Edit, Says::Nothing], &[Says::Edit]], Budget::default());
    without(rule, poisoned, &[ANSWERS]);
    let budget = Budget { restores: 1, ..Budget::default() };
    let restored = bounded(&[&[Says::Edit], &[Says::Edit]], budget);
    without(rule, restored, &[NOT_REJECTED]);
}
