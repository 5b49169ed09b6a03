"""Evidence as a type: its parts, what each field's standing is, one builder, one reader, one writer."""
