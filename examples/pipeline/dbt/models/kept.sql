-- One row for each promise, as the evidence beside the data says; `privet verify` counts them again.
select promise ->> '$.model.type' as promise, (promise -> '$.holds')::boolean as holds
from (
    select unnest(from_json(content -> '$.promises', '["json"]')) as promise
    from {{ source('privet', 'safe_evidence') }}
    where file = 'evidence.json'
)
