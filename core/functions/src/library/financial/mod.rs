//! Financial functions.

mod bonds;
mod coupons;
mod depreciation;
mod discounts;
mod interest;
mod odd_bonds;
mod payments;
mod returns;

use crate::function::Function;

pub(super) fn functions() -> [&'static [Function]; 8] {
    [
        bonds::FUNCTIONS,
        coupons::FUNCTIONS,
        depreciation::FUNCTIONS,
        discounts::FUNCTIONS,
        interest::FUNCTIONS,
        odd_bonds::FUNCTIONS,
        payments::FUNCTIONS,
        returns::FUNCTIONS,
    ]
}
