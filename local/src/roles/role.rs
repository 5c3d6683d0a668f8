//! A role: its statements together.

use super::ask::Ask;
use super::statement::{Effect, Statement};

/// What a role says of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A statement permits it, and none forbids it.
    Allowed,
    /// No statement permits it.
    NotAllowed,
    /// A statement forbids it.
    Forbidden,
}

/// The inline policies of a role.
#[derive(Debug)]
pub(super) struct Role {
    pub(super) logical_id: String,
    pub(super) statements: Vec<Statement>,
}

impl Role {
    /// Judges, and counts the action of the first statement that decides.
    pub(super) fn judge(&self, ask: &Ask) -> Verdict {
        let first = |effect| {
            let mut of_effect = self.statements.iter().filter(move |own| own.effect == effect);
            of_effect.find_map(|own| own.about(ask))
        };
        let (action, verdict) = match first(Effect::Deny) {
            Some(action) => (action, Verdict::Forbidden),
            None => match first(Effect::Allow) {
                Some(action) => (action, Verdict::Allowed),
                None => return Verdict::NotAllowed,
            },
        };
        action.count();
        verdict
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::read::statements;
    use super::*;

    fn role(of: &Value) -> Role {
        let policies = json!([{
            "PolicyName": "p",
            "PolicyDocument": { "Version": "2012-10-17", "Statement": of },
        }]);
        Role { logical_id: "R".to_owned(), statements: statements(&policies).unwrap() }
    }

    fn judge(role: &Role, action: &str, resource: &str) -> Verdict {
        role.judge(&Ask::new(action, resource))
    }

    #[test]
    fn what_no_statement_permits_is_not_allowed() {
        let role = role(&json!([{
            "Sid": "Read", "Effect": "Allow", "Action": ["s3:GetObject", "s3:List*"],
            "Resource": "arn:aws:s3:::b/k",
        }]));
        assert_eq!(judge(&role, "s3:GetObject", "arn:aws:s3:::b/k"), Verdict::Allowed);
        assert_eq!(judge(&role, "S3:getobject", "arn:aws:s3:::b/k"), Verdict::Allowed);
        assert_eq!(judge(&role, "s3:ListBucket", "arn:aws:s3:::b/k"), Verdict::Allowed);
        for (action, resource) in [
            ("s3:PutObject", "arn:aws:s3:::b/k"),
            ("s3:GetObjectTagging", "arn:aws:s3:::b/k"),
            ("s3:GetObject", "arn:aws:s3:::b/K"),
            ("s3:GetObject", "arn:aws:s3:::b"),
            ("", ""),
        ] {
            assert_eq!(judge(&role, action, resource), Verdict::NotAllowed, "{action} {resource}");
        }
        let used: Vec<u64> = role.statements[0].actions.iter().map(|one| one.used()).collect();
        assert_eq!(used, [2, 1]);
    }

    #[test]
    fn what_a_statement_forbids_nothing_permits() {
        let role = role(&json!([
            { "Effect": "Allow", "Action": "*", "Resource": "*" },
            { "Effect": "Deny", "Action": "s3:Put*", "Resource": "arn:aws:s3:::b/sheets/*" },
        ]));
        assert_eq!(judge(&role, "s3:PutObject", "arn:aws:s3:::b/sheets/x"), Verdict::Forbidden);
        assert_eq!(judge(&role, "s3:PutObject", "arn:aws:s3:::b/uploads/x"), Verdict::Allowed);
        assert_eq!(judge(&role, "s3:GetObject", "arn:aws:s3:::b/sheets/x"), Verdict::Allowed);
    }

    #[test]
    fn of_two_that_permit_it_the_first_counts() {
        let allow = json!({ "Effect": "Allow", "Action": "sqs:SendMessage", "Resource": "*" });
        let role = role(&json!([allow, allow]));
        assert_eq!(judge(&role, "sqs:SendMessage", "*"), Verdict::Allowed);
        let used = role.statements.iter().map(|one| one.actions[0].used());
        assert_eq!(used.collect::<Vec<_>>(), [1, 0]);
    }
}
