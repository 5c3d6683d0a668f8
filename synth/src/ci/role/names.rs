//! ARN patterns of the resources of a stack.
//!
//! CloudFormation names a resource `STACK-LOGICALID-SUFFIX`, and shortens the parts of names that
//! would be too long for a service.

/// A shortened name keeps at least these characters of the stack's name, because no service of the
/// stack allows less than 63 characters.
const KEPT_CHARS: usize = 20;

pub(super) struct Names {
    pub(super) stack: String,
    /// Pattern that matches the names of the resources of the stack.
    pattern: String,
}

impl Names {
    pub(super) fn new(stack: &str) -> Self {
        let pattern = if stack.chars().count() <= KEPT_CHARS {
            format!("{stack}-*")
        } else {
            format!("{}*", stack.chars().take(KEPT_CHARS).collect::<String>())
        };
        Self { stack: stack.to_owned(), pattern }
    }

    /// Returns the pattern of resources of a service. `prefix` comes before the name, as in
    /// `table/`.
    pub(super) fn arns(&self, service: &str, prefix: &str) -> String {
        arn(service, &format!("{prefix}{}", self.pattern))
    }

    /// Returns the pattern of resources that are in no region.
    pub(super) fn global_arns(&self, service: &str, prefix: &str) -> String {
        global_arn(service, &format!("{prefix}{}", self.pattern))
    }

    /// Names of buckets are in lower case.
    pub(super) fn bucket_arns(&self) -> String {
        bucket_arn(&self.pattern.to_lowercase())
    }
}

pub(super) fn arn(service: &str, resource: &str) -> String {
    format!("arn:${{AWS::Partition}}:{service}:${{AWS::Region}}:${{AWS::AccountId}}:{resource}")
}

pub(super) fn global_arn(service: &str, resource: &str) -> String {
    format!("arn:${{AWS::Partition}}:{service}::${{AWS::AccountId}}:{resource}")
}

pub(super) fn bucket_arn(name: &str) -> String {
    format!("arn:${{AWS::Partition}}:s3:::{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_matched_although_they_are_shortened() {
        let name = "a".repeat(KEPT_CHARS);
        assert!(Names::new(&name).bucket_arns().ends_with(&format!(":::{name}-*")));
        assert!(Names::new(&format!("{name}b")).bucket_arns().ends_with(&format!(":::{name}*")));
        let names = Names::new("My-Books");
        assert!(names.bucket_arns().ends_with(":::my-books-*"));
        assert!(names.arns("dynamodb", "table/").ends_with(":table/My-Books-*"));
    }
}
