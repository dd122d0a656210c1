//! Applying: a client says which fields it wants, and the server keeps who wants which.

use super::Call;
use crate::codec;
use crate::ownership;
use crate::query::{FieldValidation, WriteOptions};
use crate::status::Failure;
use crate::strategy::Object;

impl Call<'_> {
    /// What an object, or none, becomes by an applied configuration: with defaults, in its stored form.
    pub(super) fn applied(&self, old: Option<&Object>, body: &[u8], options: &WriteOptions) -> Result<Object, Failure> {
        let live = old.map(|old| {
            let mut live = match self.served.conversion() {
                Some(conversion) => (conversion.from_stored)(old),
                None => old.clone(),
            };
            live.insert("apiVersion".into(), self.served.api_version().into());
            live.insert("kind".into(), self.served.kind.as_str().into());
            live
        });
        let mut object = self.configured(body, options, |configuration, manager| {
            let subresource = &self.info.subresource;
            ownership::apply(self.served, live.as_ref(), configuration, manager, subresource, options.force)
        })?;
        self.served.strategy().default(&mut object);
        Ok(self.to_stored(object))
    }

    /// Reads a configuration, applies it for a manager, and says what is odd about it.
    pub(super) fn configured(
        &self,
        body: &[u8],
        options: &WriteOptions,
        apply: impl FnOnce(&Object, &str) -> Result<Object, Failure>,
    ) -> Result<Object, Failure> {
        let configuration = codec::decode_configuration(body)
            .map_err(|error| Failure::bad_request(format!("error decoding YAML: {error}")))?;
        let object = apply(&configuration.object, &self.manager(&options.field_manager))?;
        if let Some((error, repeated)) = configuration.strict_error() {
            match options.field_validation {
                FieldValidation::Ignore => {}
                FieldValidation::Warn => self.warn(repeated.iter().cloned()),
                FieldValidation::Strict => {
                    return Err(Failure::bad_request(format!("error strict decoding YAML: {error}")));
                }
            }
        }
        Ok(object)
    }
}
