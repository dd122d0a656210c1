//! Which objects of a collection a list or a watch is about.

use rolewright_core::Name;

use crate::catalog::Served;
use crate::cluster::Entry;
use crate::query::ListOptions;
use crate::selector::field::FieldSelector;
use crate::selector::label::LabelSelector;
use crate::status::Failure;
use crate::strategy::Object;

/// What a request selects.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    /// All namespaces if empty.
    pub(crate) namespace: Name,
    labels: LabelSelector,
    fields: FieldSelector,
}

impl Filter {
    pub(crate) fn new(served: &Served, namespace: &str, name: &str, options: &ListOptions) -> Result<Self, Failure> {
        let mut fields = served.selecting(&options.field_selector).map_err(Failure::bad_request)?;
        if !name.is_empty() && fields.exact("metadata.name").is_none() {
            fields = FieldSelector::name(name);
        }
        Ok(Self { namespace: namespace.into(), labels: options.label_selector.clone(), fields })
    }

    /// Nothing is left out but other namespaces.
    pub(crate) fn is_whole(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// The only name that can match.
    pub(crate) fn name(&self) -> Option<&str> {
        self.fields.exact("metadata.name")
    }

    pub(crate) fn matches(&self, served: &Served, entry: &Entry) -> bool {
        (self.namespace.is_empty() || entry.namespace == self.namespace)
            && (self.labels.is_empty() || self.labels.matches(|key| entry.label(key)))
            && (self.fields.is_empty() || self.fields_match(served, entry))
    }

    fn fields_match(&self, served: &Served, entry: &Entry) -> bool {
        // Reading the object is the exception: most selectors ask for the name alone.
        let mut object: Option<Object> = None;
        self.fields.terms().iter().all(|term| {
            let value = match term.field.as_str() {
                "metadata.name" => entry.name.to_string(),
                "metadata.namespace" => entry.namespace.to_string(),
                field => {
                    let object = object.get_or_insert_with(|| served.view(entry));
                    served.strategy().select(object, field)
                }
            };
            (value == term.value) != term.negated
        })
    }
}
