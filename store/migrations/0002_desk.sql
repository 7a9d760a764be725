-- What happens here: who may call, what was done, what waits for a human,
-- and the audit log.

create table principals (
    id           text primary key,
    name         text not null unique,
    kind         text not null check (kind in ('agent', 'operator')),
    role         text not null check (role in ('viewer', 'staff', 'manager')),
    customer     text references customers (key),   -- pinned: the only one it acts for
    token_sha256 text not null unique,
    created_at   text not null,
    expires_at   text,
    revoked_at   text
) strict;

create table cases (
    seq        integer primary key,
    id         text not null unique,
    principal  text not null references principals (id),   -- who acts for the customer
    customer   text not null references customers (key),
    opened_by  text not null references principals (id),
    opened_at  text not null,
    expires_at text not null,
    closed_by  text references principals (id),             -- also by opening the next one
    closed_at  text,
    check ((closed_at is null) = (closed_by is null))
) strict;
create unique index cases_open on cases (principal) where closed_at is null;

create trigger cases_final before update of seq, id, principal, customer, opened_by, opened_at, expires_at on cases
begin select raise(abort, 'a case never changes; the next one replaces it'); end;
create trigger cases_closed before update of closed_by, closed_at on cases when old.closed_at is not null
begin select raise(abort, 'a closed case never changes'); end;
create trigger cases_kept before delete on cases
begin select raise(abort, 'cases are kept'); end;

create table approvals (
    seq             integer primary key,
    id              text not null unique,
    tool            text not null,
    arguments       text not null,                 -- JSON as the tool understood it
    customer        text references customers (key), -- null: a request of a session that has none
    order_id        text references orders (id),
    amount          integer check (amount > 0),
    currency        text not null,
    asked_by        text not null references principals (id),
    request_key     text not null,                 -- equal for a repeat of the same request
    reasons         text not null,                 -- JSON: why a human decides
    policy          text not null,
    digest          text not null,
    created_at      text not null,
    expires_at      text not null,
    state           text not null check (state in ('pending', 'approved', 'rejected', 'stale')),
    decided_by      text references principals (id),
    decided_at      text,
    note            text not null default '',
    approved_amount integer check (approved_amount > 0 and approved_amount <= amount),
    result          text not null default '',      -- JSON: what performing it gave; of a request, the sealed answer
    collected_at    text,                          -- of a request: when the agent got the answer
    check (customer is not null or tool = 'request_human'),
    check ((state = 'pending') = (decided_at is null)),
    check (state in ('pending', 'stale') or decided_by is not null)
) strict;
create index approvals_by_order on approvals (order_id);
create index approvals_waiting on approvals (expires_at) where state = 'pending';
create index approvals_by_customer on approvals (customer, created_at);
create index approvals_by_request on approvals (request_key);

-- Free text stays erasable; what was asked and decided doesn't change.
create trigger approvals_asked before update of
    id, tool, customer, order_id, amount, currency, asked_by, request_key, policy, digest, created_at, expires_at
on approvals
begin select raise(abort, 'what an approval asks for never changes'); end;
create trigger approvals_decided before update of state, decided_by, decided_at, approved_amount
on approvals when old.state <> 'pending'
begin select raise(abort, 'a decided approval never changes'); end;
create trigger approvals_kept before delete on approvals
begin select raise(abort, 'approvals are kept'); end;

-- What starts to wait and of which a target hasn't been told yet. A row goes
-- once it was delivered or given up.
create table outbox (
    seq        integer primary key,
    subject    text not null,                -- the id of the approval, request or ticket
    target     text not null,                -- who is to be told
    created_at text not null,
    due_at     text not null,                -- no process tries it before; whoever does moves it on first
    attempts   integer not null default 0,
    unique (subject, target)
) strict;
create index outbox_due on outbox (target, due_at);

create table refunds (
    seq         integer primary key,
    id          text not null unique,
    order_id    text not null references orders (id),
    customer    text not null references customers (key),
    amount      integer not null check (amount > 0),
    currency    text not null,
    reason      text not null,
    human       integer not null check (human in (0, 1)),  -- a human decided it
    approval_id text references approvals (id),
    made_by     text not null references principals (id),
    request_key text not null,   -- '' where an operator issued it
    judged_at   text not null,   -- the moment its refund window was judged: when it was asked for
    created_at  text not null,
    check (approval_id is null or human = 1)
) strict;
create index refunds_by_order on refunds (order_id);
create unique index refunds_by_approval on refunds (approval_id) where approval_id is not null;
create index refunds_by_customer on refunds (customer, currency, human, created_at, amount); -- all that a sum needs

create trigger refunds_final before update of
    seq, id, order_id, customer, amount, currency, human, approval_id, made_by, request_key, judged_at, created_at
on refunds
begin select raise(abort, 'refunds never change'); end;
create trigger refunds_kept before delete on refunds
begin select raise(abort, 'refunds are kept'); end;
create trigger refunds_counted after insert on refunds when
    (select source_refunded_base is null from orders where id = new.order_id)
    or (select coalesce(sum(amount), 0) from refunds where order_id = new.order_id)
     > (select refunded from orders where id = new.order_id)
begin select raise(abort, 'a refund that its order does not count'); end;

create table tickets (
    seq             integer primary key,
    id              text not null unique,
    customer        text not null references customers (key),
    order_id        text references orders (id),
    category        text not null,
    priority        text not null check (priority in ('low', 'normal', 'high', 'urgent')),
    summary         text not null,
    summary_key     text not null,   -- equal for the same text, however it is cased and spaced
    previous_ticket text references tickets (id),
    state           text not null check (state in ('open', 'closed')),
    filed_by        text not null,
    created_at      text not null,
    closed_at       text
) strict;
create index tickets_by_customer on tickets (customer, created_at);
create index tickets_by_order on tickets (order_id) where order_id is not null;

create table ticket_replies (
    seq        integer primary key,
    ticket_id  text not null references tickets (id),
    written_by text not null references principals (id),
    body       text not null,
    created_at text not null
) strict;
create index ticket_replies_by_ticket on ticket_replies (ticket_id);

create table address_changes (
    seq         integer primary key,
    order_id    text not null references orders (id),
    customer    text not null references customers (key),
    old_address text not null,     -- JSON; '' once erased
    new_address text not null,     -- JSON; '' once erased
    changed_by  text not null references principals (id),
    created_at  text not null
) strict;
create index address_changes_by_customer on address_changes (customer);

create trigger address_changes_final before update of seq, order_id, customer, changed_by, created_at
on address_changes
begin select raise(abort, 'address changes never change'); end;
create trigger address_changes_erased before update of old_address, new_address
on address_changes when new.old_address not in ('', old.old_address) or new.new_address not in ('', old.new_address)
begin select raise(abort, 'an address that was changed may only be erased'); end;
create trigger address_changes_kept before delete on address_changes
begin select raise(abort, 'address changes are kept'); end;

create table audit (
    seq         integer primary key,
    at          text not null,
    actor       text not null,
    actor_kind  text not null,
    role        text not null,
    door        text not null check (door = 'mcp' or door = 'cli' or door = 'eval'),
    session     text not null,
    client      text not null,
    customer    text not null,
    action      text not null,
    order_id    text not null,
    approval_id text not null,
    amount      integer,
    currency    text not null,
    outcome     text not null check (outcome = 'ok' or outcome = 'pending_approval' or outcome = 'denied' or outcome = 'invalid' or outcome = 'error'),
    code        text not null,
    fingerprint text not null,
    policy      text not null,
    duration_us integer not null,
    prev_hash   text not null,
    hash        text not null
) strict;

create trigger audit_final before update on audit
begin select raise(abort, 'audit rows never change'); end;
create trigger audit_kept before delete on audit
begin select raise(abort, 'audit rows are kept'); end;
