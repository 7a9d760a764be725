-- What the shop knows: customers, orders, parcels, articles. Money is integer
-- minor units, times are UTC text of one width, so both compare as they are.

create table settings (
    name  text primary key,
    value text not null
) strict, without rowid;

create table customers (
    key        text primary key,          -- opaque: the only name that logs and audit know
    id         text unique,               -- the shop's id; null once erased
    name       text not null,
    email      text not null,
    phone      text not null,
    created_at text not null,
    source     text not null              -- digest of the line it was last imported from
) strict;

-- What imports leave out for good: salted hashes of the ids of customers that
-- were erased and of the numbers of orders that came later.
create table erased (
    name text primary key
) strict, without rowid;

create table orders (
    id                    text primary key,       -- as the shop writes it
    number                text not null unique,   -- folded: what look-ups compare
    digits                text,                   -- what follows the last separator, where that is digits
    customer              text not null references customers (key),
    status                text not null check (status in ('processing', 'shipped', 'delivered', 'cancelled')),
    currency              text not null check (length(currency) = 3),
    placed_at             text not null,
    delivered_at          text,                   -- the earliest ever seen
    shipping              integer not null check (shipping >= 0),
    tax                   integer not null check (tax >= 0),
    discount              integer not null check (discount >= 0),
    total                 integer not null check (total >= 0),
    paid                  integer not null check (paid >= 0),
    refunded              integer not null check (refunded >= 0 and refunded <= paid),
    source_refunded       integer not null check (source_refunded >= 0),  -- the shop's own latest figure
    source_refunded_at    text,                   -- when that figure last rose
    source_refunded_base  integer,                -- that figure at our first refund
    note                  text not null,          -- the customer's
    recipient             text not null,
    line1                 text not null,
    line2                 text not null,
    city                  text not null,
    region                text not null,
    postal_code           text not null,
    country               text not null,
    address_changed_at    text,                   -- when it was changed here; imports then keep it
    source                text not null
) strict;
create index orders_by_customer on orders (customer, placed_at desc, id);
create index orders_by_digits on orders (digits, customer) where digits is not null;

create table order_items (
    order_id   text not null references orders (id),
    line       integer not null,
    sku        text not null,
    title      text not null,
    quantity   integer not null check (quantity >= 0),
    unit_price integer not null check (unit_price >= 0),
    primary key (order_id, line)
) strict, without rowid;

create table shipments (
    id              integer primary key,
    order_id        text not null references orders (id),
    parcel          text not null,                -- tracking number, or its place among the order's parcels without one
    carrier         text not null,
    tracking_number text not null,
    status          text not null check (status in
        ('label_created', 'in_transit', 'out_for_delivery', 'delivered', 'returned', 'exception')),
    eta             text,                         -- a date
    delivered_at    text,                         -- first delivered scan, the earliest ever seen
    source          text not null,
    unique (order_id, parcel)
) strict;

create table shipment_items (
    shipment_id integer not null references shipments (id),
    line        integer not null,
    sku         text not null,
    quantity    integer not null check (quantity > 0),
    primary key (shipment_id, line)
) strict, without rowid;

create table scans (
    shipment_id integer not null references shipments (id),
    place       integer not null,                 -- oldest first
    at          text not null,
    location    text not null,
    status      text not null,
    description text not null,
    primary key (shipment_id, place)
) strict, without rowid;

create table articles (
    number      integer primary key,
    id          text not null unique,
    title       text not null,
    body        text not null,
    category    text not null,
    written_by  text not null check (written_by in ('official', 'community')),
    visibility  text not null check (visibility in ('public', 'internal')),
    outdated    integer not null check (outdated in (0, 1)),
    updated_at  text not null,
    source      text not null
) strict;

-- What the search knows. An article that isn't in these tables can't be found.
create table article_index (
    article     integer primary key references articles (number),
    title_words integer not null,
    body_words  integer not null,
    terms       text not null               -- under which article_terms has it: a JSON list
) strict;
create index article_index_by_length on article_index (title_words, body_words);   -- to sum up without the terms

create table article_terms (
    term     text not null,
    block    integer not null,              -- of article numbers: reading a row for every posting would take long
    postings blob not null,                 -- packed by package lexis
    primary key (block, term)
) strict, without rowid;
