select surgery, count(*) as patients
from {{ source('privet', 'safe') }}
group by surgery
