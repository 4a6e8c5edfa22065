-- Books of another version of the layout are not changed. A later release upgraded their link while
-- this service was running (duty D10).
do
  local version = meters['schema'] or '1'
  if last_entry > 0 and version ~= SCHEMA then
    return redis.error_reply('SCHEMA the books are of version ' .. version .. ', not ' .. SCHEMA)
  end
end
