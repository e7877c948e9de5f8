//! Memory-comparable keys: values encoded so that `memcmp` orders them as SQL does.
