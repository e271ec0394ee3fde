//! Which keywords of JSON Schema hold schemas, and to what part of a value do those apply?

/// The part of a value that a subschema applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The value itself.
    Same,
    /// The property of the name that the subschema stands under.
    Property,
    /// Every property that is not named in `properties`.
    OtherProperty,
    /// Possibly every property.
    AnyProperty,
    /// The names of all properties.
    PropertyName,
    /// The item at the subschema's own position.
    ItemAt,
    /// Every item after those that have their own schema.
    OtherItem,
    /// Possibly every item.
    AnyItem,
    /// Nothing, until a reference leads there.
    Nothing,
}

/// How a keyword's value holds schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The value is a schema.
    One,
    /// The value is a list of schemas.
    List,
    /// The value is an object whose values are schemas.
    Map,
}

/// Where `keyword` holds schemas, over all supported dialects; `None` for every other keyword.
///
/// `items` as a list (before 2020-12) is positional, so the form depends on the value.
pub(crate) fn place_of(keyword: &str, value_is_list: bool) -> Option<(Form, Place)> {
    Some(match keyword {
        "allOf" | "anyOf" | "oneOf" => (Form::List, Place::Same),
        "not" | "if" | "then" | "else" => (Form::One, Place::Same),
        "dependentSchemas" | "dependencies" => (Form::Map, Place::Same),
        "properties" => (Form::Map, Place::Property),
        "patternProperties" => (Form::Map, Place::AnyProperty),
        "additionalProperties" => (Form::One, Place::OtherProperty),
        "unevaluatedProperties" => (Form::One, Place::AnyProperty),
        "propertyNames" => (Form::One, Place::PropertyName),
        "prefixItems" => (Form::List, Place::ItemAt),
        "items" if value_is_list => (Form::List, Place::ItemAt),
        "items" | "additionalItems" => (Form::One, Place::OtherItem),
        "contains" | "unevaluatedItems" => (Form::One, Place::AnyItem),
        "$defs" | "definitions" => (Form::Map, Place::Nothing),
        "contentSchema" => (Form::One, Place::Nothing),
        _ => return None,
    })
}
