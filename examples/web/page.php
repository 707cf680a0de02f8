<?php echo "page ", $_SERVER["REQUEST_URI"], " ", random_int(0, 999), "\n";
