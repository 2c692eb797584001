# Builds it.
build() {
  local x=$1
}

function deploy {
  echo $1
}
