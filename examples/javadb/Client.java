// Writes ten rows by JDBC in transactions and reads them back; it retries until the server is there.
import java.sql.*;

public class Client {
	public static void main(String[] args) throws Exception {
		Connection c = connect(args[0]);
		c.setAutoCommit(false);
		try (Statement s = c.createStatement()) {
			s.execute("CREATE TABLE words (n INT PRIMARY KEY, word VARCHAR(20))");
			for (int i = 1; i <= 10; i++) {
				s.execute("INSERT INTO words VALUES (" + i + ", 'word " + i + "')");
				if (i % 3 == 0)
					c.commit();
			}
			c.rollback();
			ResultSet r = s.executeQuery("SELECT COUNT(*), MAX(n) FROM words");
			r.next();
			if (r.getInt(1) != 9 || r.getInt(2) != 9)
				throw new Exception(r.getInt(1) + " rows, the last is " + r.getInt(2));
			c.commit();
		}
		c.close();
		System.out.println("read back nine rows");
		System.exit(0);
	}

	static Connection connect(String url) throws Exception {
		while (true) {
			try {
				return DriverManager.getConnection(url, "SA", "");
			} catch (SQLException e) {
				Thread.sleep(1000);
			}
		}
	}
}
