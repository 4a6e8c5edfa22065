-- Data with another schema version, or without one, is not changed (duty D10).
do
  local version = meters['schema'] or 'none'
  if last_entry > 0 and version ~= SCHEMA then
    return redis.error_reply('SCHEMA the data is of version ' .. version .. ', not ' .. SCHEMA)
  end
end
