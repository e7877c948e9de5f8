//! Functions that MySQL's own views call: their names are taken, and nobody else may call them.

use super::{Body, Function, MANY};

const fn refused(name: &'static str) -> Function {
    Function { name, min: 0, max: MANY, body: Body::Refused, tag: 0 }
}

pub(super) const TABLE: &[Function] = &[
    refused("can_access_column"),
    refused("can_access_database"),
    refused("can_access_table"),
    refused("can_access_user"),
    refused("can_access_view"),
    refused("get_dd_column_privileges"),
    refused("get_dd_create_options"),
    refused("get_dd_index_sub_part_length"),
    refused("internal_auto_increment"),
    refused("internal_avg_row_length"),
    refused("internal_check_time"),
    refused("internal_checksum"),
    refused("internal_data_free"),
    refused("internal_data_length"),
    refused("internal_dd_char_length"),
    refused("internal_get_comment_or_error"),
    refused("internal_get_enabled_role_json"),
    refused("internal_get_hostname"),
    refused("internal_get_username"),
    refused("internal_get_view_warning_or_error"),
    refused("internal_index_column_cardinality"),
    refused("internal_index_length"),
    refused("internal_is_enabled_role"),
    refused("internal_is_mandatory_role"),
    refused("internal_keys_disabled"),
    refused("internal_max_data_length"),
    refused("internal_table_rows"),
    refused("internal_update_time"),
    refused("is_visible_dd_object"),
];
