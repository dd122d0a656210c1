//! stub
use crate::catalog::Served;
use crate::strategy::Object;
pub(crate) fn manager(field_manager: &str, user_agent: &str) -> String {
    if field_manager.is_empty() { user_agent.split('/').next().unwrap_or_default().to_owned() } else { field_manager.to_owned() }
}
pub(crate) fn update(_: &Served, _: &Served, _: Option<&Object>, _: &mut Object, _: &str, _: &str, _: &str) {}
