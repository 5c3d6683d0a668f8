//! Roles, which allow or deny access requests.

use super::access_request::AccessRequest;
use super::statement::{ActionPattern, Effect, Statement};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Allowed,
    /// No statement allows the request.
    ImplicitDeny,
    ExplicitDeny,
}

#[derive(Debug)]
pub(super) struct Role {
    pub(super) logical_id: String,
    pub(super) statements: Vec<Statement>,
}

impl Role {
    /// Increments the use count of the action in the statement that determines the decision.
    pub(super) fn decide(&self, request: &AccessRequest) -> Decision {
        if let Some(action) = self.first_matching_action(Effect::Deny, request) {
            action.count_use();
            return Decision::ExplicitDeny;
        }
        if let Some(action) = self.first_matching_action(Effect::Allow, request) {
            action.count_use();
            return Decision::Allowed;
        }
        Decision::ImplicitDeny
    }

    fn first_matching_action(
        &self,
        effect: Effect,
        request: &AccessRequest,
    ) -> Option<&ActionPattern> {
        self.statements
            .iter()
            .filter(|statement| statement.effect == effect)
            .find_map(|statement| statement.matching_action(request))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::read::read_statements;
    use super::*;

    fn role(of: &Value) -> Role {
        let policies = json!([{
            "PolicyName": "p",
            "PolicyDocument": { "Version": "2012-10-17", "Statement": of },
        }]);
        Role { logical_id: "R".to_owned(), statements: read_statements(&policies).unwrap() }
    }

    fn decide(role: &Role, action: &str, resource: &str) -> Decision {
        role.decide(&AccessRequest::new(action, resource))
    }

    #[test]
    fn requests_are_denied_by_default() {
        let role = role(&json!([{
            "Sid": "Read", "Effect": "Allow", "Action": ["s3:GetObject", "s3:List*"],
            "Resource": "arn:aws:s3:::b/k",
        }]));
        assert_eq!(decide(&role, "s3:GetObject", "arn:aws:s3:::b/k"), Decision::Allowed);
        assert_eq!(decide(&role, "S3:getobject", "arn:aws:s3:::b/k"), Decision::Allowed);
        assert_eq!(decide(&role, "s3:ListBucket", "arn:aws:s3:::b/k"), Decision::Allowed);
        for (action, resource) in [
            ("s3:PutObject", "arn:aws:s3:::b/k"),
            ("s3:GetObjectTagging", "arn:aws:s3:::b/k"),
            ("s3:GetObject", "arn:aws:s3:::b/K"),
            ("s3:GetObject", "arn:aws:s3:::b"),
            ("", ""),
        ] {
            let decision = decide(&role, action, resource);
            assert_eq!(decision, Decision::ImplicitDeny, "{action} {resource}");
        }
        let used: Vec<u64> = role.statements[0].actions.iter().map(|one| one.use_count()).collect();
        assert_eq!(used, [2, 1]);
    }

    #[test]
    fn an_explicit_deny_wins() {
        let role = role(&json!([
            { "Effect": "Allow", "Action": "*", "Resource": "*" },
            { "Effect": "Deny", "Action": "s3:Put*", "Resource": "arn:aws:s3:::b/sheets/*" },
        ]));
        let explicit = decide(&role, "s3:PutObject", "arn:aws:s3:::b/sheets/x");
        assert_eq!(explicit, Decision::ExplicitDeny);
        let allowed = decide(&role, "s3:PutObject", "arn:aws:s3:::b/uploads/x");
        assert_eq!(allowed, Decision::Allowed);
        let allowed = decide(&role, "s3:GetObject", "arn:aws:s3:::b/sheets/x");
        assert_eq!(allowed, Decision::Allowed);
    }

    #[test]
    fn counts_the_first_allowing_statement() {
        let allow = json!({ "Effect": "Allow", "Action": "sqs:SendMessage", "Resource": "*" });
        let role = role(&json!([allow, allow]));
        assert_eq!(decide(&role, "sqs:SendMessage", "*"), Decision::Allowed);
        let used = role.statements.iter().map(|one| one.actions[0].use_count());
        assert_eq!(used.collect::<Vec<_>>(), [1, 0]);
    }
}
